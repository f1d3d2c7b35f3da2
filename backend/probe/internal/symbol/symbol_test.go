package symbol

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

func TestReadable(t *testing.T) {
	for name, want := range map[string]string{
		"main": "main", "_init": "_init", "_Zwrong": "_Zwrong",
		"_ZN4deep6Solver3runEi": "deep::Solver::run",
		"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE": "std::condition_variable::wait",
		"_ZN9__gnu_cxx13new_allocatorIiE8allocateEmPKv":             "__gnu_cxx::new_allocator<int>::allocate",
		"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE":          "core::fmt::Write::write_fmt",
	} {
		if got := Readable(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	// Each S0_ doubles the length.
	long := "_Z1fI1aE1gI" + strings.Repeat("S_", 1000)
	if got := Readable(long); len(got) > len(long) {
		t.Errorf("%d bytes", len(got))
	}
}

func packed(t testing.TB, data []byte, dictionary int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := xz.WriterConfig{DictCap: dictionary}.NewWriter(&b)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestUnpack(t *testing.T) {
	data := bytes.Repeat([]byte("symbols "), 10000)
	good := packed(t, data, 1<<20)
	if got, err := Unpack(good); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := unpack(good, len(data)-1); err == nil {
		t.Errorf("%d bytes of %d", len(got), len(data)-1)
	}
	for name, b := range map[string][]byte{
		"nothing": nil, "cut off": good[:len(good)/2], "not packed": data,
		"large dictionary": packed(t, data[:10], 128<<20),
	} {
		if got, err := Unpack(b); err == nil {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(packed(f, []byte("symbols"), 1<<16))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, _ := Unpack(b); len(got) > maxUnpacked {
			t.Errorf("%d bytes", len(got))
		}
	})
}

func FuzzReadable(f *testing.F) {
	f.Add("_ZN4deep6Solver3runEi")
	f.Fuzz(func(t *testing.T, name string) {
		if got := Readable(name); len(got) > max(len(name), 1<<maxName) {
			t.Errorf("%d bytes of %d", len(got), len(name))
		}
	})
}
