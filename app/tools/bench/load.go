package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

// load is the result of runLoad.
type load struct {
	perSecond float64
	waits     []time.Duration
}

// runLoad keeps connections busy for a time. request returns the bytes of the next
// request; every answer must have the wanted status. It does not use net/http, whose
// client would cost more processor time than the server that is measured.
func runLoad(ctx context.Context, address string, connections int, length time.Duration, want int, request func() []byte) (load, error) {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		out   load
		fault error
	)

	began := time.Now()
	for range connections {
		group.Go(func() {
			waits, err := sendRequests(ctx, address, began, length, want, request)
			mu.Lock()
			defer mu.Unlock()
			out.waits = append(out.waits, waits...)
			fault = errors.Join(fault, err)
		})
	}

	group.Wait()
	out.perSecond = float64(len(out.waits)) / time.Since(began).Seconds()
	return out, errors.Join(fault, ctx.Err())
}

// sendRequests sends requests over one connection, each after the answer to the one
// before, and at least one. It returns how long each took.
func sendRequests(
	ctx context.Context, address string, began time.Time, length time.Duration, want int, request func() []byte,
) ([]time.Duration, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()

	reader := bufio.NewReaderSize(conn, 16<<10)
	var waits []time.Duration
	for len(waits) == 0 || time.Since(began) < length && ctx.Err() == nil {
		sent := time.Now()
		if _, err := conn.Write(request()); err != nil {
			return waits, err
		}

		status, err := readAnswer(reader)
		if err != nil {
			return waits, err
		}
		if status != want {
			return waits, fmt.Errorf("answered %d, not %d", status, want)
		}

		waits = append(waits, time.Since(sent))
	}
	return waits, nil
}

// readAnswer reads one answer with a Content-Length and returns its status.
func readAnswer(r *bufio.Reader) (status int, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 12 {
		return 0, fmt.Errorf("answered %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, err
	}

	length := 0
	for {
		if line, err = r.ReadSlice('\n'); err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		if name, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}

	_, err = io.CopyN(io.Discard, r, int64(length))
	return status, err
}
