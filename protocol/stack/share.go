// Shares of frames in several samples.

package stack

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// Share is the fraction of samples in which a frame was on a stack, in percent. The threads of the tree are then hits:
// one for each thread in each sample. 100 % are the hits of all threads that were started in the same function.
type Share struct {
	All             float64 // of all ranks of the node together
	Lowest, Highest float64 // of a single rank
}

// ShareOf returns the share of a node below a root. Ranks that were never at the node do not count.
func (n *Node) ShareOf(root *Node) Share {
	s := Share{Lowest: 100}
	of := 0
	for _, c := range n.Counts {
		for _, d := range root.Counts {
			common := c.Ranks.Intersect(d.Ranks)
			if common.IsEmpty() {
				continue
			}
			of += d.Threads * common.Len()
			part := 100 * float64(c.Threads) / float64(d.Threads)
			s.Lowest, s.Highest = min(s.Lowest, part), max(s.Highest, part)
		}
	}
	s.All = 100 * float64(n.Threads) / float64(max(of, 1))
	return s
}

// NotStopped and NotRead begin the Func of a root that says why threads could not be stopped, or read.
const (
	NotStopped = "(thread not stopped: "
	NotRead    = "(thread not read: "
)

// Base returns the node whose hits are 100 % for a root: the root itself. Threads that could not be stopped or read are
// under other roots, so their share is of the hits of all roots together.
func Base(roots []*Node, root *Node) *Node {
	if f := root.Frame.Func; !strings.HasPrefix(f, NotStopped) && !strings.HasPrefix(f, NotRead) {
		return root
	}
	all := *root
	sum := countsOf(slices.Clone(root.Counts))
	for _, r := range roots {
		if r != root {
			sum = sum.plus(all.Ranks, countsOf(slices.Clone(r.Counts)), r.Ranks)
			all.Ranks = all.Ranks.Union(r.Ranks)
		}
	}
	all.Threads, all.Counts = sum.total(all.Ranks), sum.list(all.Ranks)
	return &all
}

// String returns "40 %", with the range over the ranks if they differ: "40 %: 20 to 90 % of a rank".
func (s Share) String() string {
	text := percent(s.All)
	if s.Highest-s.Lowest < 1 {
		return text
	}
	return fmt.Sprintf("%s: %.0f to %s of a rank", text, s.Lowest, percent(s.Highest))
}

// percent rounds a number so that only 0 and 100 are shown as such.
func percent(p float64) string {
	switch {
	case p > 0 && p < 1:
		return "<1 %"
	case p > 99 && p < 100:
		return ">99 %"
	}
	return fmt.Sprintf("%.0f %%", p)
}

// sampledJSON is one node of several samples.
type sampledJSON struct {
	Frame
	Ranks    rank.Set      `json:"ranks"`
	N        int           `json:"n"`    // ranks
	Hits     int           `json:"hits"` // of threads of these ranks, one for each sample
	Percent  json.Number   `json:"percent"`
	Counts   []hitsJSON    `json:"counts,omitempty"` // if ranks have different numbers of hits
	Children []sampledJSON `json:"children,omitempty"`
}

type hitsJSON struct {
	Hits  int      `json:"hits"`
	Ranks rank.Set `json:"ranks"`
}

// SampledJSON returns the tree as MarshalJSON does, with hits in place of threads.
func (s *Tree) SampledJSON() []byte {
	out := []sampledJSON{}
	roots := s.Roots()
	for _, root := range roots {
		out = append(out, root.sampledJSON(Base(roots, root)))
	}
	return canonical.JSON(out)
}

func (n *Node) sampledJSON(root *Node) sampledJSON {
	all := n.ShareOf(root).All
	out := sampledJSON{Frame: n.Frame, Ranks: n.Ranks, N: n.Ranks.Len(), Hits: n.Threads,
		Percent: json.Number(fmt.Sprintf("%.1f", all))}
	for _, c := range n.countsJSON() {
		out.Counts = append(out.Counts, hitsJSON{c.Threads, c.Ranks})
	}
	for _, c := range n.Children() {
		out.Children = append(out.Children, c.sampledJSON(root))
	}
	return out
}
