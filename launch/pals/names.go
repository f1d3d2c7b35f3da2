// Package pals finds jobs of PALS, the starter of HPE Cray systems, under PBS, and reaches their
// nodes.
//
//	qstat -f JOB                         the first node of a job of PBS
//	palstat -n NODE                      the applications there
//	palstat -n NODE -p APID              host, program and process of each rank, in their order
//	palscmd -n NODE APID CMD             CMD once on each node of the application
//	palscp -l FILE -f FILE -d NAME APID  a file to the nodes
//
// NODE is the first node of the job. Source: cti 26.03 of the Cray Programming Environment
// (PALS/Frontend.cpp), which knows PALS 1.2 to 1.7, and qstat(1B) of OpenPBS.
package pals

import (
	"fmt"
	"strings"

	"sdm/protocol"
	"sdm/protocol/pattern"
)

// APID is the name of an application, a UUID.
type APID string

var (
	uuid    = `[0-9A-Za-z]{8}(?:-[0-9A-Za-z]{4}){3}-[0-9A-Za-z]{12}`
	apid    = pattern.New(`^` + uuid + `$`)
	jobText = pattern.New(`^[0-9]+(?:\[[0-9]*\])?(?:\.[0-9A-Za-z._-]+)?$`)
	helper  = pattern.New(`Launched tool helper (` + uuid + `)`)
)

// ParseAPID reads the name of an application.
func ParseAPID(text string) (APID, error) {
	if !apid.MatchString(text) {
		return "", fmt.Errorf("%q is no application of PALS (an APID has the form 8-4-4-4-12; palstat lists them)", protocol.Clip(text))
	}
	return APID(text), nil
}

// Job is a job of PBS, and one of its applications, if that is chosen.
type Job struct {
	ID   string
	APID APID // "": its only one
}

// ParseJob reads JOBID or JOBID:APID.
func ParseJob(text string) (Job, error) {
	id, app, chosen := strings.Cut(text, ":")
	if len(id) > 128 || !jobText.MatchString(id) {
		return Job{}, fmt.Errorf("%q is no job of PBS (JOBID or JOBID:APID; qstat lists jobs)", protocol.Clip(text))
	}
	j := Job{ID: id}
	var err error
	if chosen {
		j.APID, err = ParseAPID(app)
	}
	return j, err
}
