# The pool and the files that the page reads.
firn pool create nanoflake --name orders
{ echo id,customer; firn new nanoflake -n 3 | sed 's/$/,Ada/'; } >orders.csv
firn new nanoflake -n 3 | sed 's/.*/level=INFO order=&/' >server.log
