"""What the programs of the corpus must and must not raise: read from their sources, judged against reports."""
