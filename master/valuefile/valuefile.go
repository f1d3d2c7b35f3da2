// Package valuefile defines the file of values that another run is compared with, and compares values.
//
// The file is lines of JSON, each after the hash of its bytes, so that a file that was cut off, or whose disk was full,
// is read up to there:
//
//	#89abcdef01234567 {"format":"sdm values","version":"1.0",...}
//	#23456789abcdef01 {"snapshot":1,"ranks":"0-3"}
//	#456789abcdef0123 {"expr":"n","type":"int","ranks":"0-3","text":"5"}
//	#6789abcdef012345 {"end":1,"values":1}
package valuefile

import (
	"encoding/json"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/digest"
	"sdm/protocol/rank"
)

// Values of Head.Format and Head.Version.
const (
	FormatName    = "sdm values"
	FormatVersion = "1.0"
)

// Head is the first line.
type Head struct {
	Format string `json:"format"`
	// Version is the version of the format. A reader refuses a higher number before the point; a higher one after it has
	// fields that older readers ignore.
	Version string    `json:"version"`
	Sdm     string    `json:"sdm,omitempty"` // that has written the file
	When    time.Time `json:"when"`
}

// Snapshot is what was saved at one time.
type Snapshot struct {
	Number int // from 1
	Ranks  rank.Set
	Values []Value
	// Torn tells that its end is not in the file.
	Torn bool
}

// Value is the value that an expression has on some ranks.
type Value struct {
	Expr  string   `json:"expr"`
	Type  string   `json:"type,omitempty"`
	Ranks rank.Set `json:"ranks"`
	// By is the offset of a piece of a whole array, and At the values of its names; see package whole.
	By string  `json:"by,omitempty"`
	At []int64 `json:"at,omitempty"`
	// Text is the value as gdb shows it. An array of numbers has Kind and the fields after it instead; see
	// protocol.ValueInfo.
	Text   string         `json:"text,omitempty"`
	Kind   string         `json:"kind,omitempty"`
	Size   int            `json:"size,omitempty"`
	Shape  protocol.Shape `json:"shape,omitzero"`
	Stride int            `json:"stride,omitempty"`
	Data   []byte         `json:"data,omitempty"` // the elements
	Sum    string         `json:"sum,omitempty"`  // hash of all elements
	// Trouble is why there is no value.
	Trouble string `json:"trouble,omitempty"`
	// Stat are the statistics of an array that was just taken; they are not in files.
	Stat protocol.ArrayStat `json:"-"`
}

// begin and end are the lines around the values of a snapshot.
type begin struct {
	Snapshot int      `json:"snapshot"`
	Ranks    rank.Set `json:"ranks"`
}

type end struct {
	End    int `json:"end"`
	Values int `json:"values"`
}

// AppendHead appends the first line of a file.
func AppendHead(b []byte, sdm string, now time.Time) []byte {
	return appendLine(b, Head{FormatName, FormatVersion, sdm, now.UTC().Truncate(time.Second)})
}

// Append appends the lines of a snapshot.
func (s Snapshot) Append(b []byte) []byte {
	b = appendLine(b, begin{s.Number, s.Ranks})
	for _, v := range s.Values {
		b = appendLine(b, v)
	}
	return appendLine(b, end{s.Number, len(s.Values)})
}

func appendLine(b []byte, v any) []byte { return appendRaw(b, string(canonical.JSON(v))) }

// appendRaw appends a line with its hash.
func appendRaw(b []byte, text string) []byte {
	b = append(b, digest.Text(digest.OfText(text))...)
	b = append(b, ' ')
	return append(append(b, text...), '\n')
}

// line reads what appendLine has written; false: it is torn, or something else.
func line(text []byte, into any) bool {
	for i, c := range text {
		if c == ' ' {
			return digest.Text(digest.Of(text[i+1:])) == string(text[:i]) && json.Unmarshal(text[i+1:], into) == nil
		}
	}
	return false
}
