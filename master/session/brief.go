// Rank sets that are cut where an event would be long.

package session

import (
	"bytes"
	"strconv"

	"sdm/protocol/rank"
)

const (
	// briefEvent is how long an event may be, in bytes, before its sets are cut: a
	// job of a thousand ranks never comes there.
	briefEvent = 16 << 10
	// briefSet is what is left of a set then: some lines of a screen.
	briefSet = 256
)

// setKeys are the fields of events and reports whose values are rank sets, or sets of
// servers.
var setKeys = [][]byte{[]byte(`"ranks`), []byte(`"missing`), []byte(`"lost`), []byte(`"set`), []byte(`"servers`)}

// AppendBrief adds the event's JSON object to b as AppendJSON does, but for long
// sets in a long event: of those it writes as many ranges as fit, and how many
// ranks there are more, "0,2,4,...+524285". That is no set: who takes it for one,
// here or elsewhere, fails and does not act on a part of the ranks.
func (e Event) AppendBrief(b []byte) []byte {
	start := len(b)
	b = e.AppendJSON(b)
	return append(b[:start], Brief(b[start:])...)
}

// Brief cuts the sets in the JSON text of an event or a Report, if it is long, as
// AppendBrief says. A quote within a string has a
// backslash before it, and only a key has a colon behind its own.
func Brief(line []byte) []byte {
	if len(line) <= briefEvent {
		return line
	}
	var out []byte
	taken := 0
	for at := 0; ; {
		i := bytes.Index(line[at:], []byte(`":"`))
		if i < 0 {
			break
		}
		key := line[at : at+i]
		at += i + len(`":"`)
		end := bytes.IndexByte(line[at:], '"')
		if end <= briefSet || !isSetKey(key) {
			continue
		}
		if short, ok := cut(line[at : at+end]); ok {
			out = append(append(out, line[taken:at]...), short...)
			taken = at + end
		}
		at += end
	}
	return append(out, line[taken:]...)
}

func isSetKey(before []byte) bool {
	for _, k := range setKeys {
		if bytes.HasSuffix(before, k) {
			return true
		}
	}
	return false
}

// cut shortens the text of a set; ok is false if it is none.
func cut(text []byte) (short []byte, ok bool) {
	comma := bytes.LastIndexByte(text[:briefSet], ',')
	var all, head rank.Set
	if comma < 0 || all.UnmarshalText(text) != nil || head.UnmarshalText(text[:comma]) != nil {
		return nil, false
	}
	short = append(short, text[:comma]...)
	short = append(short, ",...+"...)
	return strconv.AppendInt(short, int64(all.Len()-head.Len()), 10), true
}
