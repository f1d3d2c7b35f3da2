// Tests of columns as JSON.

package column

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestColumnJSON(t *testing.T) {
	for _, c := range []struct {
		name string
		col  Column
		want string
	}{
		{"numbers", columnOf("n", 0, "0", "2", "2"),
			`{"distinct":2,"count":3,"min":{"value":0,"rank":0},"max":{"value":2,"rank":1},"mean":1.3333333333333333,"stddev":0.9428090415820634,` +
				`"values":[{"value":"0","ranks":"0"},{"value":"2","ranks":"1-2"}]}`},
		{"text", columnOf("n", 0, "b"), `{"distinct":1,"count":1,"values":[{"value":"b","ranks":"0"}]}`},
		{"not UTF-8", columnOf("n", 0, "\xff"), `{"distinct":1,"count":1,"values":[{"data":"/w==","ranks":"0"}]}`},
		{"beyond 2^53", columnOf("n", -1, "9007199254740993"),
			`{"distinct":1,"count":1,"min":{"value":"9007199254740993","rank":0},"max":{"value":"9007199254740993","rank":0},` +
				`"mean":9007199254740992,"stddev":0,"limit":-1,"values":[{"value":"9007199254740993","ranks":"0"}]}`},
		{"nan and inf", columnOf("n", 0, "nan(0x1)", "inf", "-inf"),
			`{"distinct":3,"count":3,"nan":{"count":1,"ranks":"0"},"inf":{"count":2,"ranks":"1-2"},` +
				`"values":[{"value":"-inf","ranks":"2"},{"value":"inf","ranks":"1"},{"value":"nan(0x1)","ranks":"0"}]}`},
		{"structures", columnOf("p", 0, "{x = 1, y = 2, p = 0x0}", "{x = 1, y = 3, p = 0x55555}"),
			`{"distinct":2,"count":2,"values":[{"value":"{x = 1, y = 2, p = 0x0}","ranks":"0"},{"value":"{x = 1, y = 3, p = 0x55555}","ranks":"1"}],` +
				`"folds":[{"ranks":"0-1","distinct":2,"parts":["{x = 1, y = ",", p = ","}"],"fields":[` +
				`{"path":"y","distinct":2,"min":{"value":2,"rank":0},"max":{"value":3,"rank":1},"values":[{"value":"2","ranks":"0"},{"value":"3","ranks":"1"}]},` +
				`{"path":"p","distinct":2,"values":[{"value":"0x0","ranks":"0"},{"value":"0x","ranks":"1"}]}]}]}`},
		{"one structure", columnOf("p", 0, "{x = 1}"), `{"distinct":1,"count":1,"values":[{"value":"{x = 1}","ranks":"0"}]}`},
		{"nothing", Column{}, `{"distinct":0,"count":0}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(c.col)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestColumnJSONSummary(t *testing.T) {
	text, err := json.Marshal(columnOf("n", 4, numbered(100)...))
	if err != nil {
		t.Fatal(err)
	}
	var got columnJSON
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !got.Estimated || got.Count != 100 || got.Limit != 4 || len(got.Values) != 0 || len(got.Exact) == 0 {
		t.Errorf("%s", text)
	}
	if !strings.Contains(string(text), `"highest":[{"value":99,"rank":99,"count":1,"ranks":"99"},{"value":98,`) {
		t.Errorf("%s", text)
	}
}

func TestColumnJSONErrors(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:               "cannot unmarshal",
		`{"limit":-2}`:     "a limit of -2 is not possible",
		`{"exact":"AAA="}`: "bytes end too early",
		`{"exact":"` + strings.Repeat("A", 60) + `"}`:                                "bytes after a summary",
		`{"values":[{"value":"1","ranks":""}]}`:                                      `value "1" has no ranks`,
		`{"values":[{"value":"1","ranks":"1"},{"value":"1","ranks":"2"}]}`:           `value "1" appears twice`,
		`{"limit":1,"values":[{"value":"1","ranks":"1"},{"value":"2","ranks":"2"}]}`: "2 values are more than the limit, 1",
	} {
		c := Column{Name: "kept"}
		err := json.Unmarshal([]byte(text), &c)
		if err == nil || !strings.Contains(err.Error(), want) || c.Count() != 0 || c.Name != "kept" {
			t.Errorf("%s: %v, %v; want %q in it", text, err, c, want)
		}
	}
}
