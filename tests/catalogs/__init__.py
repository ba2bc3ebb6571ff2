"""The catalogs of translations, and `make messages`, which brings them up to date with what the code says.

    conversations/locale    the site: what people read
    chatsite/locale         the admin: what is said nowhere else

Both hold what the libraries leave untranslated, too. A sentence that both say stands in the first.
"""
