// Package oracle compares what sdm shows to the user of each rank with what plain gdb shows,
// command by command. gdb is assumed to be right.
//
// A seed determines a session of commands for one program (session.go). The same commands are given
// to one plain gdb for each rank (gdb.go) and to sdm with some layout of ranks and gdbs (sdm.go).
// Both transcripts are split into one block of text for each command and rank. The rules in
// docs/differences.md (rules.go) make both texts equal where sdm differs on purpose. Any other
// difference is a defect.
//
//	seed ─ session ┬─ gdb, rank 0 ── blocks ─┐
//	               ├─ gdb, rank 1 ── blocks ─┼─ rules ─ compare ─ differences
//	               └─ sdm, N ranks ─ blocks ─┘
package oracle
