package canonical

import "testing"

func TestJSON(t *testing.T) {
	if got := string(JSON(struct{ B, A string }{"<&>", ""})); got != `{"B":"<&>","A":""}` {
		t.Error(got)
	}
}

func TestPanicsOnWhatJSONCannotHold(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	JSON(func() {})
}
