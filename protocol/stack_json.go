// A stack tree as JSON: an array of the outermost frames.

package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"sdm/protocol/rank"
)

// nodeJSON is one node: the fields of its frame, then the rest.
type nodeJSON struct {
	StackFrame
	Ranks    rank.Set   `json:"ranks"`
	N        int        `json:"n"`       // ranks
	Threads  int        `json:"threads"` // of these ranks
	Children []nodeJSON `json:"children,omitempty"`
}

// MarshalJSON gives the array that front ends see, siblings in the order of
// Children.
func (s *Stack) MarshalJSON() ([]byte, error) { return Canonical(toJSON(s.Roots())), nil }

func toJSON(nodes []*StackNode) []nodeJSON {
	out := make([]nodeJSON, len(nodes))
	for i, n := range nodes {
		out[i] = nodeJSON{n.Frame, n.Ranks, n.Ranks.Len(), n.Threads, toJSON(n.Children())}
	}
	return out
}

// UnmarshalJSON reads what MarshalJSON gave; siblings may be in any order.
func (s *Stack) UnmarshalJSON(b []byte) error {
	var in []nodeJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("stack: %w", err)
	}
	roots, err := fromJSON(in, 1)
	if err != nil {
		return fmt.Errorf("stack: %w", err)
	}
	s.roots = roots
	return nil
}

func fromJSON(in []nodeJSON, depth int) ([]*StackNode, error) {
	if len(in) == 0 {
		return nil, nil
	}
	if depth > MaxStackDepth {
		return nil, fmt.Errorf("deeper than %d frames", MaxStackDepth)
	}
	var out []*StackNode
	for _, n := range in {
		children, err := fromJSON(n.Children, depth+1)
		switch {
		case err != nil:
			return nil, err
		case n.Ranks.IsEmpty():
			return nil, fmt.Errorf("frame %q has no ranks", n.Func)
		case n.Line < 0 || n.Line > math.MaxInt32 || n.Threads < 0 || n.Threads > maxCount:
			return nil, errors.New("a number is out of bounds")
		}
		out = append(out, &StackNode{n.StackFrame, n.Ranks, n.Threads, children})
	}
	slices.SortFunc(out, func(a, b *StackNode) int { return a.Frame.compare(&b.Frame) })
	for i := 1; i < len(out); i++ {
		if out[i].Frame == out[i-1].Frame {
			return nil, fmt.Errorf("frame %q is there twice", out[i].Frame.Func)
		}
	}
	return out, nil
}
