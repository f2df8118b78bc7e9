"""The table of bad files, by what is bad in them; row.py has its form."""
