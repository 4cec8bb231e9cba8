"""The matrix game behind the maximum margin of a group: values, optimal faces, closed forms."""
