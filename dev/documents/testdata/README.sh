# The log has IDs, and firn pool show finds the pool of the command before.
export FIRN_STORE=$PWD/ids
firn new nanoflake -n 3 --worker 5 | sed 's/.*/level=INFO order=&/' >app.log
