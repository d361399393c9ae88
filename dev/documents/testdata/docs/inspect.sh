# The pool and the files that the page reads.
firn pool create nanoflake --name orders --state ids
{ echo id,customer; firn new nanoflake --state ids -n 3 | sed 's/$/,Ada/'; } >orders.csv
firn new nanoflake --state ids -n 3 | sed 's/.*/level=INFO order=&/' >server.log
