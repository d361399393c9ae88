# The page counts lines of the clone.
cd "$REPOSITORY"
