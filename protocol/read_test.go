package protocol

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzReadCommand compares ReadCommand with package json.
func FuzzReadCommand(f *testing.F) {
	for _, body := range []string{
		`{"command":"print","args":{"expr":"size"}}`,
		`{"command":"print","args":{"expr":"a<b","limit":-1}}`,
		`{"command":"print","args":{"expr":"s[\"é\"]","thread":2,"limit":16,"format":"x"}}`,
		`{"command":"break","args":{"location":"work.c:12","condition":"rank==3","temporary":true,"breakpoint":7}}`,
		`{"command":"stacks","args":{"by":"line","count":0}}`,
		`{"command":"continue","args":{}}`,
		`{"command":"continue","args":{,}}`,
		`{"command":"continue","args":{"count":01}}`,
		`{"command":"continue","args":{"count":1,}}`,
		`{"command":"continue","args":{"count":1}}x`,
		`{"command":"continue","args":{"count":1234567890123}}`,
		`{"command":"continue","args":{"COUNT":1}}`,
		`{"command":"x"}`, `{}`, ``, `{"command":"`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var want Command
		wrong := json.Unmarshal(body, &want)
		got, err := ReadCommand(body)
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%q: %v, want %v", body, err, wrong)
		}
		if err == nil && !reflect.DeepEqual(*got, want) {
			t.Errorf("%q is read as %+v, want %+v", body, *got, want)
		}
	})
}

func TestReadPlain(t *testing.T) {
	for body, plain := range map[string]bool{
		`{"command":"print","args":{"expr":"rank","limit":4}}`:   true,
		`{"command":"continue","args":{}}`:                       true,
		`{"command":"stacks","args":{"by":"line"}}`:              true,
		`{"command":"print","args":{"expr":"\"text\""}}`:         false,
		`{"command":"break","args":{"location":"f","line":[3]}}`: false,
	} {
		if got := readPlain([]byte(body), new(Command)); got != plain {
			t.Errorf("%s is read without package json: %v, want %v", body, got, plain)
		}
	}
}

func BenchmarkReadCommand(b *testing.B) {
	body := []byte(`{"command":"print","args":{"expr":"size"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadCommand(body); err != nil {
			b.Fatal(err)
		}
	}
}
