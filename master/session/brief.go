// Truncation of rank sets in long events.

package session

import (
	"bytes"
	"strconv"

	"sdm/protocol/rank"
)

const (
	// briefEvent is the length in bytes beyond which the sets of an event are truncated. Events of
	// a thousand ranks do not reach it.
	briefEvent = 16 << 10
	// briefSet is the length in bytes to which a set is truncated.
	briefSet = 256
)

// setKeys are the ends of the names of fields that are sets of ranks or servers.
var setKeys = [][]byte{[]byte(`"ranks`), []byte(`"missing`), []byte(`"lost`), []byte(`"set`), []byte(`"servers`)}

// AppendBrief adds the event's JSON object to b as AppendJSON does, but truncates long sets in a
// long event: it writes as many ranges as fit, and the number of further ranks, "0,2,4,...+524285".
// That does not parse as a set, so that no program acts on a part of the ranks by mistake.
func (e Event) AppendBrief(b []byte) []byte {
	start := len(b)
	b = e.AppendJSON(b)
	return append(b[:start], Brief(b[start:])...)
}

// Brief truncates the sets in the JSON text of an event or a Report as AppendBrief does, if the
// text is long. It finds the values by `":"`: a quote within a string follows a backslash, and only
// a key is followed by a colon.
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
		if short, ok := truncate(line[at : at+end]); ok {
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

// truncate truncates the text of a set; ok is false if it is not a set.
func truncate(text []byte) (short []byte, ok bool) {
	comma := bytes.LastIndexByte(text[:briefSet], ',')
	var all, head rank.Set
	if comma < 0 || all.UnmarshalText(text) != nil || head.UnmarshalText(text[:comma]) != nil {
		return nil, false
	}
	short = append(short, text[:comma]...)
	short = append(short, ",...+"...)
	return strconv.AppendInt(short, int64(all.Len()-head.Len()), 10), true
}
