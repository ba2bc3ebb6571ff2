"""Documents from upload to embedded passages: begin with `documents`, then `index_document`."""
