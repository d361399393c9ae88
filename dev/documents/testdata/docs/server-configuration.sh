# A configuration with one setting.
echo 'drain = "1s"' >firn.toml
