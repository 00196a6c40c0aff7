"""What cards and machine are doing: the tools' own words read by structure. Unknown is None, never 0."""
