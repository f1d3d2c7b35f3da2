// Commands of breakpoints that the console executes, for the ranks that stopped there.

package console

import (
	"encoding/json"
	"fmt"
	"slices"

	"sdm/master/language"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// follower is the rest of the commands for ranks that have stopped at a breakpoint.
type follower struct {
	breakpoint int
	lines      []string
	ranks      rank.Set
}

// follow executes the commands of breakpoints at which ranks have stopped, once for all ranks with
// equal commands. A current wait continues; running ranks are not affected.
func (c *console) follow(groups []protocol.Group) {
	var all []follower
	for _, g := range groups {
		var s protocol.Stop
		if g.Kind != protocol.KindStopped || json.Unmarshal(g.Body, &s) != nil || len(s.Then) == 0 {
			continue
		}
		i := slices.IndexFunc(all, func(f follower) bool {
			return f.breakpoint == s.Breakpoint &&
				slices.Equal(f.lines, s.Then)
		})
		if i < 0 {
			all = append(all, follower{s.Breakpoint, s.Then, g.Ranks})
			continue
		}
		all[i].ranks = all[i].ranks.Union(g.Ranks)
	}
	for _, f := range all {
		c.continueFollower(f)
	}
}

// continueFollower executes the commands of a follower, each after the answer to the one before.
func (c *console) continueFollower(f follower) {
	for len(f.lines) > 0 {
		line := f.lines[0]
		f.lines = f.lines[1:]
		x, err := c.executeLineAt(line, f)
		if err != nil {
			c.mistake(f.at(err))
			return
		}
		if x != nil {
			c.following = append(c.following, x)
			then := x.then
			x.then = func(x *call) {
				if then != nil {
					then(x)
				}
				c.continueFollower(f)
			}
			return
		}
	}
}

func (f follower) at(err error) error {
	return fmt.Errorf("commands of breakpoint %d: %w", f.breakpoint, err)
}

// executeLineAt executes one command. It returns the call if it addresses ranks.
func (c *console) executeLineAt(line string, f follower) (*call, error) {
	cmd, ok, err := language.Parse(line)
	if !ok || err != nil {
		return nil, err
	}
	if m := checkAt(cmd); m != nil {
		return nil, m
	}
	if cmd.Set == "" {
		cmd.Set = f.ranks.String()
	}
	waiting := c.await
	c.await = await{}
	err = c.execute(cmd, source{at: f.at})
	x := c.await.call
	c.release()
	c.await = waiting
	return x, err
}

// checkAt refuses commands that do not address ranks.
func checkAt(cmd language.Command) *language.Mistake {
	if cmd.Do == "" && cmd.Name != language.Echo {
		return &language.Mistake{Text: cmd.Name + " cannot be executed at a breakpoint", Hint: "what is asked of ranks can, and echo"}
	}
	return nil
}

// checkBlock finds errors in those commands of a breakpoint that the console executes.
func checkBlock(lines []string) error {
	for _, line := range lines[protocol.FrontEndLine(lines):] {
		cmd, ok, err := language.Parse(line)
		if err != nil {
			return err
		}
		if m := checkAt(cmd); ok && m != nil {
			return m
		}
	}
	return nil
}
