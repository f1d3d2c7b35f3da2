// Package oracle compares what sdm tells each rank's user with what plain gdb
// tells, command by command. gdb is the judge.
//
// A seed gives a session of commands for one program (session.go). The same
// commands go to one plain gdb for each rank (gdb.go) and to sdm with some
// layout of ranks and gdbs (sdm.go). Both transcripts are taken apart into one
// block of text for each command and rank. The rules in docs/differences.md
// (rules.go) turn both texts into the same words where sdm differs on purpose;
// any other difference is a defect.
//
//	seed ─ session ┬─ gdb, rank 0 ── blocks ─┐
//	               ├─ gdb, rank 1 ── blocks ─┼─ rules ─ compare ─ differences
//	               └─ sdm, N ranks ─ blocks ─┘
package oracle
