# The files of IDs that the page reads.
before() {
	case $1 in
	*"verify nanoflake"*) firn new nanoflake -n 100 >ids ;;
	*"verify sno"*) firn new sno -n 100 | sed 's/.*/level=INFO order=&/' >app.log ;;
	*"sort sno"*) firn new sno -n 100 >ids ;;
	*"merge sno"*) for i in 1 2; do firn new sno -n 100 | firn sort sno -o "sorted-$i" || return; done ;;
	*"convert snowflakesi"*) firn new snowflakesi --as int -n 100 >ids ;;
	esac
}
