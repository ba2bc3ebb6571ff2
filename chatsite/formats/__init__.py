"""How pages write dates and times, by language; Django takes these in place of its own.

`local_times.js` writes those that a page is given as moments, in the same form.
"""
