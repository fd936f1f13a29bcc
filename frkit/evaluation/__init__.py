"""From scores to a labelled tree of rates, their centre and their replicates."""
