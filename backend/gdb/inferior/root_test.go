package inferior

import "testing"

func TestAsSeen(t *testing.T) {
	for path, want := range map[string]string{
		"/proc/12/root/lib/x.so": "/lib/x.so", "/lib/x.so": "/lib/x.so", "/proc/self/root/x": "/proc/self/root/x", "": "", "/proc/12/maps": "/proc/12/maps",
	} {
		if got := AsSeen(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
