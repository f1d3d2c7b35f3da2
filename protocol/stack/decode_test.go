package stack

import (
	"bytes"
	"strings"
	"testing"

	"sdm/protocol/rank"
)

// joined concatenates parts: strings, bytes, and small numbers.
func joined(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(b, p...)
		case []byte:
			b = append(b, p...)
		case int:
			b = append(b, byte(p))
		}
	}
	return b
}

func TestDecodeErrors(t *testing.T) {
	rank5 := rank.Of(5).AppendWire(nil)
	frame := joined(8, 2, "f", 0, 0, 0, 0, 0, 0)
	two := joined(2, 16, 2, "f", 0, 0, 0, 0, 0, 0, 2, "g", 0, 0, 0, 0, 0, 0)
	const second = 1 << nodeBits
	leaf := joined(0, rank5, 1)
	room := make([]byte, 40)
	deep := joined(1, frame, nodesBelow, rank5, 1, bytes.Repeat([]byte{sameRanks | sameThreads | nodesBelow}, MaxDepth+1), room)
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"nothing":                               {nil, "bytes end too early"},
		"frames missing":                        {joined(3, 0), "bytes end too early"},
		"frame cut off":                         {joined(1, 7, 2, "f", 0, 0, 0, 0, 0), "bytes end too early"},
		"text cut off":                          {joined(1, 8, 9, "abcdefg"), "bytes end too early"},
		"text too long":                         {joined(1, 20, bytes.Repeat([]byte{0xff}, 9), 1, room), "bytes end too early"},
		"length too long":                       {joined(1, bytes.Repeat([]byte{0xff}, 9), 1, room), "bytes end too early"},
		"bytes too many":                        {joined(1, 9, 2, "f", 0, 0, 0, 0, 0, 0, 0, room), "bytes after the frames"},
		"number too long":                       {joined(1, 20, bytes.Repeat([]byte{0xff}, 9), 2, room), "bytes end too early"},
		"text not UTF-8":                        {joined(1, 8, 2, 0xff, 0, 0, 0, 0, 0, 0, room), "a text is not UTF-8"},
		"repeated text":                         {joined(2, 16, 2, "f", 0, 0, 0, 0, 0, 0, 2, "f", 0, 1, 0, 0, 0, 0, room), "not in canonical form"},
		"frames in no order":                    {joined(2, 16, 2, "f", 0, 0, 0, 0, 0, 0, 2, "e", 0, 0, 0, 0, 0, 0, room), "frames are out of order"},
		"no roots":                              {joined(1, frame), "bytes end too early"},
		"sibling missing":                       {joined(two, moreNodes, rank5, 1), "bytes end too early"},
		"child missing":                         {joined(1, frame, nodesBelow, rank5, 1), "bytes end too early"},
		"root cut off":                          {joined(1, frame, leaf[:2], 0x80, 0x80, 0x80), "rank set"},
		"frame number too high":                 {joined(1, frame, second, rank5, 1, 0, room), "a frame is missing"},
		"frame of no node":                      {joined(two, leaf, room), "a frame has no node"},
		"line too high":                         {joined(1, 12, 0, 0, bytes.Repeat([]byte{0xff}, 5), 1, 0, 0, 0, 0, room), "line is"},
		"node of no rank":                       {joined(1, frame, 0, 0, 0, room), "a rank set is empty"},
		"ranks of a parent that does not exist": {joined(1, frame, sameRanks, 1, room), "a rank set is empty"},
		"bad set":                               {joined(1, frame, 0, 3, bytes.Repeat([]byte{0xff}, 30)), "rank set"},
		"threads too many":                      {joined(1, frame, 0, rank5, bytes.Repeat([]byte{0xff}, 5), 1, room), "count of threads is"},
		"one part of threads":                   {joined(1, frame, 0, rank5, 0, 1, 1, rank5, room), "threads are not those of the ranks"},
		"parts of other ranks":                  {joined(1, frame, 0, rank5, 0, 2, 1, rank5, 2, rank5, room), "threads are not those of the ranks"},
		"parts of no threads":                   {joined(1, frame, 0, rank5, 0, 0, room), "threads are not those of the ranks"},
		"more parts than bytes":                 {joined(1, frame, 0, rank5, 0, bytes.Repeat([]byte{0xff}, 3), 1, room), "bytes end too early"},
		"frame twice":                           {joined(1, frame, moreNodes, rank5, 1, leaf, room), "frames are out of order"},
		"deeper than the limit":                 {deep, "deeper than 512 frames"},
		"set that repeats the parent's":         {joined(two, nodesBelow, rank5, 1, second|sameThreads, rank5, room), "not in canonical form"},
		"threads that repeat the parent's":      {joined(two, nodesBelow, rank5, 1, second|sameRanks, 1, room), "not in canonical form"},
		"long head":                             {joined(1, frame, 0x80, 0, rank5, 1, room), "not in canonical form"},
		"set of two forms":                      {joined(1, frame, 0, 4, 5, 0, 3, 0, 1, room), "not in canonical form"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := Decode(c.b)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "stack: ") {
				t.Errorf("%v, error %v, want %q in it", got, err, c.want)
			}
		})
	}
}
