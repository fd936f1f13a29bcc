"""The door: files, tables and arrays become faces, matrices of scores and lists of pairs."""
