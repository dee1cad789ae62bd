// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//
// Threads that share the work of a phase of a cycle, and wait for the next one. A phase takes microseconds, so that a
// thread looks for it for a while before it sleeps.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

class Crew {
public:
    // `work(t)` is the share of thread t; thread 0 is the one that calls `run`.
    Crew(unsigned threads, std::function<void(unsigned)> work) : work(std::move(work)) {
        for (unsigned t = 1; t < threads; t++) helpers.emplace_back([this, t] { serve(t); });
    }

    ~Crew() {
        ending = true;
        turn.fetch_add(1, std::memory_order_release);
        turn.notify_all();
        for (std::thread& helper : helpers) helper.join();
    }

    // A phase: ends when all threads have done their share.
    void run() {
        busy.store(static_cast<uint32_t>(helpers.size()), std::memory_order_relaxed);
        turn.fetch_add(1, std::memory_order_release);
        turn.notify_all();
        work(0);
        for (uint32_t left; (left = busy.load(std::memory_order_acquire)) != 0;) await(busy, left);
    }

private:
    static constexpr int Looks = 2000;  // some 50 us

    // Returns when the value is no longer `old`.
    static void await(std::atomic<uint32_t>& value, uint32_t old) {
        for (int look = 0; look < Looks; look++) {
            if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
            __builtin_ia32_pause();
#elif defined(__aarch64__)
            asm volatile("yield");
#endif
        }
        value.wait(old, std::memory_order_acquire);
    }

    void serve(unsigned thread) {
        for (uint32_t seen = 0;; seen++) {
            await(turn, seen);
            if (ending) return;
            work(thread);
            if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) busy.notify_one();
        }
    }

    const std::function<void(unsigned)> work;
    alignas(64) std::atomic<uint32_t> turn{0};
    alignas(64) std::atomic<uint32_t> busy{0};
    bool ending = false;
    std::vector<std::thread> helpers;
};
