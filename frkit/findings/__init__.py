"""What every section of a report is made from: data and options, sentences, tables, tiles."""
