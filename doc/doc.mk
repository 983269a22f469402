# man pages and guides
