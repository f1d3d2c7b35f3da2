package console

import (
	"sdm/master/frontend/console/command"
	"sdm/protocol/rank"
)

// start begins with the launch or attach of the session; its answers take as
// long as they take.
func (c *console) start() error {
	if c.cfg.Start == nil {
		c.feedInput()
		return nil
	}
	s := *c.cfg.Start
	s.Wait = command.NoLimit
	asked := c.cfg.All
	if s.Ranks != "" {
		if err := asked.UnmarshalText([]byte(s.Ranks)); err != nil {
			return err
		}
	}
	x := &call{then: func(x *call) { c.started(x, asked) }, starts: true}
	if err := c.begin(x, s); err != nil {
		return err
	}
	stopAt := ""
	if s.Args.Job != nil {
		stopAt = s.Args.Job.StopAt
	}
	c.await = await{call: x, first: stopAt != "none"}
	c.progress.after(progressAfter)
	return nil
}

// started looks at what has become of the start on the ranks that it was for. What is
// bad about one rank or one node is the affair of its own ranks: the others go on. A
// program that starts nowhere ends a batch.
func (c *console) started(x *call, asked rank.Set) {
	c.refused = c.cfg.All.Minus(asked).Union(asked.Minus(x.results))
	if x.results.IsEmpty() {
		c.ended, c.status = true, StatusNotStarted
		return
	}
	if c.cfg.Started != nil {
		c.cfg.Started()
	}
	c.feedInput()
}

func (c *console) feedInput() {
	if c.cfg.Input != nil {
		c.feed = newFeeder(c.cfg.Input)
	}
}
