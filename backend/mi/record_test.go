// Access to the fields of tuples.

package mi

import "testing"

func TestTuple(t *testing.T) {
	r := parseLine([]byte(`*stopped,bkptno="2",frame={func="f",args=[{name="x",value="1"}],line="12"},bkptno="3",exit-code="08x"`)).Results
	if got := r.Str("bkptno"); got != "2" {
		t.Errorf("first of two values is %q", got)
	}
	if got := r.Str("absent"); got != "" {
		t.Errorf("absent string is %q", got)
	}
	if v, ok := r.Get("frame"); !ok || v.Kind != TupleValue {
		t.Errorf("frame is %v, %v", v, ok)
	}
	if _, ok := r.Get("absent"); ok {
		t.Error("absent value is there")
	}
	if n, ok := r.Int("bkptno"); n != 2 || !ok {
		t.Errorf("number is %d, %v", n, ok)
	}
	for _, name := range []string{"absent", "frame", "exit-code"} {
		if n, ok := r.Int(name); ok {
			t.Errorf("%s is number %d", name, n)
		}
	}
	if got := r.Path("frame", "line").Str; got != "12" {
		t.Errorf("frame.line is %q", got)
	}
	if got := r.Path("frame", "nothing", "deeper"); got.Str != "" || got.Fields != nil {
		t.Errorf("path to nothing leads to %v", got)
	}
	var all []string
	for v := range r.All("bkptno") {
		all = append(all, v.Str)
		if len(all) == 2 {
			break
		}
	}
	if len(all) != 2 || all[1] != "3" {
		t.Errorf("all values are %q", all)
	}
}

func TestClassString(t *testing.T) {
	for c, want := range map[Class]string{Result: "^", Log: "&", Prompt: "prompt", Other: "other"} {
		if got := c.String(); got != want {
			t.Errorf("class %d is %q, want %q", c, got, want)
		}
	}
}
