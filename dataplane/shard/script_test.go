package shard

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestScripts runs the scripts of testdata: commands, a line of dashes, what they print, an empty line. Executors are
// played by the script, so that every run is the same.
//
//	scheduler executors=N depth=N quantum=BYTES jobs=N
//	lane TENANT LANE
//	submit LANE JOB [bytes=N] [waits=N] [wakes]   try; the handler waits N times, and wakes itself at each call
//	await LANE JOB [bytes=N]                      submit on a goroutine of its own, waiting for room
//	occupy, vacate                                take or give back a slot
//	step, run                                     one turn of one lane, or turns until none is granted
//	wake LANE, close LANE, shutdown
//	state
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runScript(t, file) })
	}
}

func runScript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sc := &script{t: t, lanes: make(map[string]*Lane), jobs: []string{""}, plans: make(map[string]*plan)}
	var out strings.Builder
	for _, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		commands, want, _ := strings.Cut(block, "\n----")
		for _, line := range strings.Split(commands, "\n") {
			if !strings.HasPrefix(line, "#") {
				sc.command(strings.Fields(line))
			}
		}
		got := sc.out.String()
		sc.out.Reset()
		if want = strings.TrimPrefix(want, "\n"); !*rewrite && strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s: after\n%s\ngot\n%s\nwant\n%s", file, commands, got, want)
		}
		fmt.Fprintf(&out, "%s\n----\n%s\n", commands, got)
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(strings.TrimSpace(out.String())+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sc.s.Close()
	sc.s.checkQuiet(t)
}

type plan struct {
	waits int
	wakes bool
}

type script struct {
	t     *testing.T
	s     *Scheduler
	lanes map[string]*Lane
	order []string // lanes as they were made
	jobs  []string // by RequestID
	plans map[string]*plan
	out   strings.Builder
	await chan string
}

func (sc *script) printf(format string, args ...any) { fmt.Fprintf(&sc.out, format+"\n", args...) }

func (sc *script) handle(l *Lane, j *Job) Verdict {
	name := sc.jobs[j.RequestID]
	p := sc.plans[name]
	if p.wakes {
		l.Wake()
	}
	if p.waits == 0 {
		sc.printf("  %s done", name)
		return Done
	}
	p.waits--
	sc.printf("  %s waits", name)
	return Wait
}

func (sc *script) command(f []string) {
	opts := make(map[string]int)
	for _, o := range f[1:] {
		if k, v, ok := strings.Cut(o, "="); ok {
			n, err := strconv.Atoi(v)
			if err != nil {
				sc.t.Fatal(err)
			}
			opts[k] = n
		}
	}
	switch f[0] {
	case "scheduler":
		sc.await = make(chan string)
		sc.s = New(Config{Executors: opts["executors"], DepthPerTenant: opts["depth"], QuantumJobs: opts["jobs"],
			QuantumBytes: int64(opts["quantum"]), Handlers: []func(*Lane, *Job) Verdict{sc.handle},
			Drop: func(l *Lane, j *Job) { sc.printf("  %s dropped", sc.jobs[j.RequestID]) }})
	case "lane":
		sc.lanes[f[2]] = sc.s.NewLane(sc.s.Tenant(f[1]), f[2])
		sc.order = append(sc.order, f[2])
	case "submit":
		j := sc.job(f, opts)
		r := sc.s.Submit(sc.lanes[f[1]], &j, 0, nil)
		sc.printf("%s %s", f[2], resultName(r))
	case "await":
		j := sc.job(f, opts)
		go func() { sc.await <- f[2] + " " + resultName(sc.s.Submit(sc.lanes[f[1]], &j, -1, nil)) }()
		sc.untilWaiting(j.RequestID)
	case "occupy":
		sc.s.occupy()
	case "vacate":
		sc.s.vacate()
	case "step":
		if !sc.s.turnOnce() {
			sc.printf("nothing is granted")
		}
	case "run":
		for sc.s.turnOnce() {
		}
	case "wake":
		sc.lanes[f[1]].Wake()
	case "close":
		sc.lanes[f[1]].Close()
	case "shutdown":
		sc.s.Close()
	case "granted": // the answers of that many awaits
		var answers []string
		for range opts["n"] {
			answers = append(answers, <-sc.await)
		}
		slices.Sort(answers)
		sc.printf("%s", strings.Join(answers, "\n"))
	case "state":
		sc.state()
	default:
		sc.t.Fatalf("unknown command %q", f[0])
	}
}

func (sc *script) job(f []string, opts map[string]int) Job {
	sc.jobs = append(sc.jobs, f[2])
	sc.plans[f[2]] = &plan{waits: opts["waits"], wakes: f[len(f)-1] == "wakes"}
	return Job{RequestID: uint64(len(sc.jobs) - 1), Bytes: int64(opts["bytes"])}
}

// untilWaiting returns when the job's submitter stands in the line.
func (sc *script) untilWaiting(id uint64) {
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		sc.s.mu.Lock()
		for t := sc.s.line.first; t != nil; t = t.nextWait {
			for w := t.waiters.first; w != nil; w = w.next {
				if w.job.RequestID == id {
					sc.s.mu.Unlock()
					return
				}
			}
		}
		sc.s.mu.Unlock()
		runtime.Gosched()
	}
	sc.t.Fatal("the submitter does not wait")
}

func (sc *script) state() {
	s := sc.s
	s.mu.Lock()
	defer s.mu.Unlock()
	sc.printf("jobs=%d queued=%d slots=%d grants=%d depth=%d", s.jobs, s.queued, s.slots, s.grants, s.depth.Load())
	for _, name := range sc.order {
		l := sc.lanes[name]
		sc.printf("%s %s queue=%d tenant queued=%d deficit=%d", name,
			[]string{"idle", "ready", "running", "parked"}[l.state], l.depthLocked(), l.tenant.queued, l.tenant.deficit)
	}
}

func resultName(r Result) string { return []string{"accepted", "full", "closed", "cancelled"}[r] }
