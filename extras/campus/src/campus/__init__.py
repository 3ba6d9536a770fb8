"""A campus: several sites, the broker and the entry that they share, on one machine or in containers on several."""
