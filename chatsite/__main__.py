"""`python -m chatsite COMMAND`: how a site that was installed as a package starts its own processes."""

from chatsite.command_line import main

main()
