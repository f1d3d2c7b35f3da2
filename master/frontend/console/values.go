// Values that are saved, compared with a file, or put together to one array.

package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/master/valuefile"
	"sdm/master/whole"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/userfile"
)

// valueFiles are the files of values of this session, by their paths.
type valueFiles struct {
	saved    map[string]int // snapshots that were written
	compared map[string]int // comparisons
	differ   map[string]bool
}

const (
	takenInAll   = 2 << 20 // elements of all ranks in save values and diff --file: 16 MiB at most
	takenAtLeast = 256     // elements of each array
	shownInAll   = 1 << 16 // elements of all ranks in whole: more than pixels that a person can tell apart
	shownAtLeast = 64
)

// reference is what values are compared with.
type reference struct {
	path     string
	snapshot *valuefile.Snapshot
	several  bool // the file has several snapshots
}

// askValues completes a call about values.
func (c *console) askValues(cmd language.Command, s *session.Call, x *call) error {
	ranks := max(c.all.Len(), 1)
	s.Args.Count = max(takenInAll/ranks/max(len(cmd.Args.Exprs), 1), takenAtLeast)
	switch cmd.Name {
	case language.Save:
	case language.Whole:
		s.Args.Count = max(shownInAll/ranks, shownAtLeast)
		x.then = c.showWhole
	default:
		ref, wanted, err := c.reference(cmd)
		if err != nil {
			return err
		}
		if s.Args.Exprs, err = valuefile.Exprs(wanted); err != nil {
			return &language.Mistake{Text: "diff --file: " + err.Error()}
		}
		x.cmd.Wanted = wanted
		x.then = func(x *call) { c.compareWith(x, ref) }
	}
	x.quiet, s.Args.Limit, s.Args.Tolerance = c.cfg.Format == Text, -1, 0 // the console compares
	return nil
}

// readTime bounds the reading of a file of values.
const readTime = 10 * time.Second

// reference reads the file that values are compared with, and returns what is wanted of it.
func (c *console) reference(cmd language.Command) (reference, []valuefile.Wanted, error) {
	ref := reference{path: atHome(cmd.Text)}
	fail := func(err error) (reference, []valuefile.Wanted, error) {
		return ref, nil, fmt.Errorf("diff --file: %w", err)
	}
	if info, err := os.Stat(ref.path); err != nil || !info.Mode().IsRegular() {
		if err == nil {
			err = errors.New(cmd.Text + " is not a regular file")
		}
		return fail(err)
	}
	ctx, stop := c.within()
	defer stop(nil)
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	b, err := userfile.Read(ctx, ref.path, valuefile.MaxSize)
	if err != nil {
		return fail(err)
	}
	f, err := valuefile.Parse(b)
	if err != nil {
		return fail(fmt.Errorf("%s: %w", cmd.Text, err))
	}
	if f.Torn > 0 {
		c.complain(fmt.Sprintf("%s cannot be read from line %d on: what is before is compared", cmd.Text, f.Torn))
	}
	n := c.values.compared[ref.path] + 1
	ref.several = len(f.Snapshots) > 1
	if !ref.several {
		ref.snapshot = f.Of(1)
	} else {
		ref.snapshot = f.Of(n)
	}
	if ref.snapshot == nil {
		return fail(fmt.Errorf("%s has %s, and this is the comparison number %d of the session", cmd.Text, text.Plural(len(f.Snapshots), "snapshot"), n))
	}
	if c.values.compared == nil {
		c.values.compared, c.values.differ = map[string]int{}, map[string]bool{}
	}
	c.values.compared[ref.path] = n
	keys := valuefile.Keys(ref.snapshot.Values)
	wanted := slices.Clone(cmd.Wanted)
	for i, w := range wanted { // the offset may be left out
		k := slices.IndexFunc(keys, func(k valuefile.Wanted) bool { return k.Expr == w.Expr })
		if k >= 0 && w.By == "" && !slices.Contains(keys, w) {
			wanted[i] = keys[k]
		}
	}
	if len(wanted) == 0 {
		wanted = keys
	}
	if len(wanted) == 0 {
		return fail(fmt.Errorf("%s has no values", cmd.Text))
	}
	return ref, wanted, nil
}

// valuesIn returns the values in the answers to a call, and writes the other answers.
func (c *console) valuesIn(x *call) (all []valuefile.Value) {
	for _, g := range x.groups {
		all = append(all, valuefile.FromAnswer(g, x.cmd.Wanted)...)
	}
	rest := slices.DeleteFunc(slices.Clone(x.groups), func(g protocol.Group) bool { return g.Kind == protocol.KindResult })
	if x.groups = rest; len(x.groups) > 0 {
		c.answers(x)
	}
	return all
}

// compareWith writes how the values of a call differ from a file.
func (c *console) compareWith(x *call, ref reference) {
	now := c.valuesIn(x)
	if len(now) == 0 {
		return
	}
	asked := x.results.Union(ref.snapshot.Ranks.Minus(c.all))
	if x.cmd.Set == "" && x.results.Len() < c.all.Len() {
		asked = x.results
	}
	var before []valuefile.Value
	for _, v := range ref.snapshot.Values {
		if !slices.Contains(x.cmd.Wanted, valuefile.Wanted{Expr: v.Expr, By: v.By}) {
			continue
		}
		if v.By == "" {
			v.Ranks = v.Ranks.Intersect(asked)
		}
		if !v.Ranks.IsEmpty() {
			before = append(before, v)
		}
	}
	findings := valuefile.Compare(before, now, x.cmd.Args.Tolerance)
	differ := slices.ContainsFunc(findings, func(f valuefile.Finding) bool { return f.Differ })
	if ref.several || ref.snapshot.Torn {
		line := fmt.Sprintf("snapshot %d of %s", ref.snapshot.Number, x.cmd.Text)
		switch {
		case ref.snapshot.Torn:
			line += ", whose end is missing"
		case differ && !c.values.differ[ref.path]:
			line += ", the first that differs"
		}
		c.say(line + ":")
	}
	c.values.differ[ref.path] = c.values.differ[ref.path] || differ
	for _, f := range findings {
		c.say("[" + text.Ranks(f.Ranks) + "] " + text.Clean(f.Text))
	}
	if differ && x.from.at != nil && !x.from.prompt {
		c.fail(x.from.at(errDiffers))
	}
}

// errDiffers ends a script with StopOnError after a difference.
var errDiffers = errors.New("the values differ: no further command is executed (--stop-on-error)")

// showWhole writes what an array is as a whole.
func (c *console) showWhole(x *call) {
	var parts []whole.Part
	var refused []string
	who := map[string]rank.Set{}
	for _, v := range c.valuesIn(x) {
		why := ""
		switch {
		case v.Trouble != "":
			why = v.Expr + " has no value: " + v.Trouble
		case v.Kind == "":
			why = v.Expr + " is of type " + v.Type + ", not an array of numbers in one piece"
		}
		if why != "" {
			if _, told := who[why]; !told {
				refused = append(refused, why)
			}
			who[why] = who[why].Union(v.Ranks)
			continue
		}
		numbers := v.Numbers()
		for first, last := range v.Ranks.Ranges() {
			for r := first; r <= last; r++ {
				parts = append(parts, whole.Part{
					Piece: whole.Piece{Rank: r, Elements: v.Shape.Elements(), Values: v.At},
					Stat:  v.Stat, Stride: v.Stride, Numbers: numbers, Index: v.Shape.Index,
				})
			}
		}
	}
	for _, why := range refused {
		c.say("[" + text.Ranks(who[why]) + "] " + text.Clean(why))
		c.failed = c.failed || !c.cfg.Interactive
	}
	if len(parts) == 0 {
		return
	}
	slices.SortFunc(parts, func(a, b whole.Part) int { return int(a.Rank) - int(b.Rank) })
	o, err := whole.ParseOffset(x.cmd.Wanted[0].By)
	if err != nil {
		return // the parser of the line has refused it
	}
	all, err := whole.Join(o, parts)
	if err != nil {
		c.complain("whole: " + err.Error())
		c.failed = c.failed || !c.cfg.Interactive
		return
	}
	var ranks rank.Set
	for _, p := range parts {
		ranks = ranks.Union(rank.Of(p.Rank))
	}
	c.say("[" + text.Ranks(ranks) + "]\n" + text.Clean(x.cmd.Wanted[0].Expr) + all.String())
	if x.cmd.Whole.Image == "" {
		return
	}
	path := x.cmd.Whole.Image
	b, size := all.PNG(x.cmd.Whole.Width)
	if b == nil {
		c.complain("whole: there is nothing to be drawn")
		return
	}
	if err := userfile.Replace(atHome(path), string(b), c.cfg.FileMode); err != nil {
		c.complain("whole: " + err.Error())
		c.failed = c.failed || !c.cfg.Interactive
		return
	}
	c.say(fmt.Sprintf("an image of %d by %d pixels was written to %s", size.X, size.Y, path))
}
