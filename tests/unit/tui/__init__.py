"""Tests of the app's pure modules."""
