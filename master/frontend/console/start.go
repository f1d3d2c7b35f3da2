// The launch or attach that the session begins with.

package console

import (
	"sdm/master/language"
	"sdm/protocol/rank"
)

// start begins with the launch or attach of the session, without a limit for its answers.
func (c *console) start() error {
	if c.cfg.Start == nil {
		c.feed = newFeeder(c.cfg.Input)
		return nil
	}
	s := *c.cfg.Start
	s.Wait = language.NoLimit
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
	stopAt := s.Args.Location // of an attach
	if s.Args.Job != nil {
		stopAt = s.Args.Job.StopAt
	}
	c.await = await{call: x, first: stopAt != "none"}
	c.progress.after(progressAfter)
	return nil
}

// started is called when the start is complete. A failure of some ranks or nodes does not concern
// the others, which continue. If no rank could be started, the console ends.
func (c *console) started(x *call, asked rank.Set) {
	c.refused = c.cfg.All.Minus(asked).Union(asked.Minus(x.results))
	if x.results.IsEmpty() {
		c.ended, c.status = true, StatusNotStarted
		return
	}
	if c.cfg.Started != nil {
		c.cfg.Started()
	}
	c.feed = newFeeder(c.cfg.Input)
}
