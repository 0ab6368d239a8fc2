"""The demo memory: believable records of invented projects."""
