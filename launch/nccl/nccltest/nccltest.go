// Package nccltest stands in for NCCL's RAS in tests: it follows the dialog and the form of answers that NCCL's user
// guide and its sources (release 2.29) tell. It is no NCCL, and nothing of it was compared with one.
package nccltest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Job is the state of a job.
type Job struct {
	Old   bool // a release before 2.28.7, which has no JSON
	Comms []Comm
}

// Comm is a communicator. Its ranks are numbered from 0 on in their order.
type Comm struct {
	Hash  string
	Ranks []Rank
}

// Rank is a rank of a communicator. Counts are of Broadcast, Reduce, AllGather, ReduceScatter and AllReduce.
type Rank struct {
	Host    string
	PID     int
	Counts  [5]uint64
	Missing bool // it does not answer
	Init    int  // 0: it is ready, 7: it is being initialised
}

// Serve carries on one dialog, up to the answer to STATUS.
func (j *Job) Serve(c io.ReadWriter) error {
	lines := bufio.NewScanner(c)
	format := "text"
	for lines.Scan() {
		line := strings.ToLower(strings.TrimSpace(lines.Text()))
		answer := "OK\n"
		switch {
		case strings.HasPrefix(line, "client protocol "):
			answer = "SERVER PROTOCOL 2\n"
		case strings.HasPrefix(line, "timeout "):
		case line == "set format json" && !j.Old:
			format = "json"
		case line == "status" || line == "verbose status":
			answer = "Job summary\n===========\n"
			if format == "json" {
				answer = j.text()
			}
			_, err := io.WriteString(c, answer)
			return err
		default:
			answer = fmt.Sprintf("ERROR: Unknown command %s\n", lines.Text())
		}
		if _, err := io.WriteString(c, answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// text is the answer in JSON.
func (j *Job) text() string {
	type object = map[string]any
	comms := []object{}
	for _, c := range j.Comms {
		ranks, missing := []object{}, []object{}
		for i, r := range c.Ranks {
			one := object{"rank": i, "host": r.Host, "pid": r.PID, "cuda_dev": i, "nvml_dev": i}
			if r.Missing {
				one["status"] = object{"unresponsive": true, "considered_dead": false}
				missing = append(missing, one)
				continue
			}
			one["status"] = object{"init_state": r.Init, "async_error": 0, "finalize_called": false,
				"destroy_flag": false, "abort_flag": false}
			one["collective_counts"] = object{"Broadcast": r.Counts[0], "Reduce": r.Counts[1],
				"AllGather": r.Counts[2], "ReduceScatter": r.Counts[3], "AllReduce": r.Counts[4]}
			ranks = append(ranks, one)
		}
		comms = append(comms, object{"hash": c.Hash, "secondary_hash": "0x1:0x2", "size": len(c.Ranks),
			"ranks_count": len(ranks), "missing_ranks_count": len(missing), "ranks": ranks, "missing_ranks": missing})
	}
	text, err := json.MarshalIndent(object{
		"nccl_version": "2.29.1", "cuda_runtime_version": 13000, "cuda_driver_version": 13000,
		"timestamp": "2026-01-02 03:04:05", "communicators_count": len(comms), "communicators": comms,
		"ras": object{"collection_time_sec": 0.001, "timeouts_count": 0},
	}, "", "  ")
	if err != nil {
		panic(err) // cannot happen: numbers and strings only
	}
	return string(text) + "\n"
}
