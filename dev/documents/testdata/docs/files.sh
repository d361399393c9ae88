# The files of IDs that the page reads.
before() {
	case $1 in
	*"verify nanoflake"*) firn new nanoflake --state pools -n 100 >ids ;;
	*"verify sno"*) firn new sno --state pools -n 100 | sed 's/.*/level=INFO order=&/' >app.log ;;
	*"C sort"*) firn new sno --state pools -n 100 >ids ;;
	*"sort -n"*) firn new snowflakesi --state pools -n 100 >numbers ;;
	*"convert snowflakesi"*) firn new snowflakesi --state pools --as int -n 100 >ids ;;
	esac
}
