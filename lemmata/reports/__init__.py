"""What commands and the front door print: short reports and tables that fit into 80 columns, by subject."""
