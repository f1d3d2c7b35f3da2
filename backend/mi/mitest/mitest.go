// Package mitest makes GDB/MI records for the tests of their users.
package mitest

import "sdm/backend/mi"

// Record returns the record of a line, given without its newline.
func Record(line string) mi.Record {
	var only mi.Record
	take := func(r mi.Record) { only = r }
	var p mi.Parser
	p.Feed([]byte(line+"\n"), take)
	p.Finish(take)
	return only
}
