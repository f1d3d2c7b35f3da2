package session

import (
	"encoding/json"
	"testing"

	"sdm/protocol"
	"sdm/protocol/canonical"
)

// A line of JSON has no character that changes what a terminal shows, and means the same.
func TestJSONHasNoHiddenCharacters(t *testing.T) {
	const said = "DEL \x7f, C1 \u009b, bidi \u202e\u2066, ESC \x1b, grün 日本"
	line := NewEvent(protocol.Group{Kind: protocol.KindNote, Body: canonical.JSON(protocol.Note{Text: said})}).AppendJSON(nil)
	for _, r := range string(line) {
		if r < ' ' || isHidden(r) {
			t.Errorf("%q holds %q", line, r)
		}
	}
	var back protocol.Note
	if err := json.Unmarshal(line, &back); err != nil || back.Text != said {
		t.Errorf("%q, %v", back.Text, err)
	}
}
