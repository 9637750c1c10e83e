"""Our own voting page: a link for each voter, a picture and two faces, one vote at a time.

A *link* holds a token of 192 random bits, of which only the sha256 is stored. A *serving* is one match that
was laid before one voter, with its sides; a voter has one open serving, and one drawn ahead whose pictures
load meanwhile. A vote is taken once, from the voter whose serving is open, and is on disk before it is
answered. Nothing that names a model, an image or a match reaches a browser.
"""
