"""What the files of a project say of the packages it needs: a reader for each kind of file, and which file counts."""
