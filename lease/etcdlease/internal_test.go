package etcdlease

import "testing"

func TestKnownBad(t *testing.T) {
	for version, want := range map[string]bool{
		"3.3.27": true, "3.4.0": true, "3.4.21": true, "3.4.22": false, "3.4.30": false, "3.5.0": true, "3.5.2": true, "3.5.5": true,
		"3.5.6": false, "3.5.21": false, "3.6.0": false, "3.7.3": false, "3.7.0-rc.0": false, "3.5.0-alpha": true, "4.0.0": false, "2.3.8": false,
		"": false, "3": false, "3.5": false, "x.y.z": false,
	} {
		if got := knownBad(version); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for endpoint, want := range map[string]string{"a:1": "a:1", "http://a:1": "a:1", "https://a:1": "a:1"} {
		if got := hostOf(endpoint); got != want {
			t.Errorf("the host of %s is %s", endpoint, got)
		}
	}
}
