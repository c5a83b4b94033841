/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gyre for applications in C++17 and later: gyre.h with owners, types and exceptions. Header only; nothing else is linked.
 *
 *     gyre::runtime runtime;
 *     auto scale = runtime.launch("scale.gyre.c", GYRE_MESSAGES(scale_request, scale_reply));
 *     std::cout << scale.call({20.5, 2}).result;
 *
 * Objects are moved, not copied, and keep what they need alive: a kernel its runtime, a queue its kernel. They end when the last of
 * them ends. Calls that fail throw gyre::error with Gyre's sentence; a request that its handler failed throws gyre::handler_failed.
 * Threads: as for the calls of gyre.h; an object must not be destroyed while a call uses it.
 */
#ifndef GYRE_GYRE_HPP
#define GYRE_GYRE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gyre/attach.h"
#include "gyre/gyre.h"
#include "gyre/pipeline.h"
#include "gyre/ring_layout.h"

namespace gyre
{

/** A call failed: its status, and the sentence as what(). */
class error : public std::runtime_error
{
  public:
    error(gyre_status status, const std::string &sentence) : std::runtime_error(sentence), status_(status)
    {
    }
    gyre_status status() const noexcept
    {
        return status_;
    }

  private:
    gyre_status status_;
};

/** A request has no reply: its handler failed it or gave none, or nobody handled it. */
class handler_failed : public error
{
  public:
    handler_failed(gyre_completion_outcome outcome, int code, const std::string &text)
        : error(GYRE_FAILED, text), outcome_(outcome), code_(code)
    {
    }
    gyre_completion_outcome outcome() const noexcept
    {
        return outcome_;
    }
    int code() const noexcept
    {
        return code_;
    } /* what the handler gave to gyre_fail; below 0: Gyre's own */

  private:
    gyre_completion_outcome outcome_;
    int code_;
};

/** Throws gyre::error unless the call went well. */
inline void check(gyre_status status)
{
    if (status != GYRE_OK)
        throw error(status, gyre_error_text());
}

/** How long a call may wait: a duration, gyre::forever or gyre::no_wait. */
class wait
{
  public:
    template <class Number, class Period>
    wait(std::chrono::duration<Number, Period> duration)
        : deadline_ns_(gyre_now_ns() +
                       static_cast<std::uint64_t>(
                           std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count()))
    {
    }
    static wait until_ns(std::uint64_t deadline_ns) noexcept
    {
        return wait(deadline_ns);
    }
    std::uint64_t deadline_ns() const noexcept
    {
        return deadline_ns_;
    }

  private:
    explicit wait(std::uint64_t deadline_ns) noexcept : deadline_ns_(deadline_ns)
    {
    }
    std::uint64_t deadline_ns_;
};

static const wait forever = wait::until_ns(GYRE_FOREVER);
static const wait no_wait = wait::until_ns(GYRE_NO_WAIT);

/** Elements that lie side by side, in memory of somebody else: of a vector, an array, or a pointer and a count. */
template <class T> class span
{
  public:
    span(T *data, std::size_t size) noexcept : data_(data), size_(size)
    {
    }
    /* A temporary lives as long as the call that it is an argument of. */
    template <class Container,
              class = typename std::enable_if<
                  std::is_convertible<decltype(std::declval<Container &>().data()), T *>::value &&
                  !std::is_same<typename std::decay<Container>::type, span>::value>::type>
    span(Container &&container) noexcept : data_(container.data()), size_(container.size())
    {
    }
    T *data() const noexcept
    {
        return data_;
    }
    std::size_t size() const noexcept
    {
        return size_;
    }
    T *begin() const noexcept
    {
        return data_;
    }
    T *end() const noexcept
    {
        return data_ + size_;
    }
    T &operator[](std::size_t index) const noexcept
    {
        return data_[index];
    }

  private:
    T *data_;
    std::size_t size_;
};

/** The types of a kernel's messages, with their descriptions: GYRE_MESSAGES(add_request, add_reply). */
template <class Request, class Reply> struct messages {
    const gyre_type *request, *reply;
};
#define GYRE_MESSAGES(request, reply) (gyre::messages<request, reply>{GYRE_TYPE(request), GYRE_TYPE(reply)})

/** How a request ended. */
template <class Reply> struct completion {
    std::uint64_t index; /* as queue::send returned it */
    gyre_completion_outcome outcome;
    int failure_code;
    std::string failure_text;
    Reply reply; /* zeroes unless the handler replied */

    bool replied() const noexcept
    {
        return outcome == GYRE_REPLIED;
    }
    /** The reply; throws handler_failed when there is none. */
    const Reply &value() const
    {
        if (!replied())
            throw handler_failed(outcome, failure_code, failure_text);
        return reply;
    }
};

namespace detail
{

inline std::string words_of(const gyre_completion &done)
{
    switch (done.outcome) {
    case GYRE_HANDLER_FAILED:
        return done.failure_text;
    case GYRE_WAS_DROPPED:
        return "the request was dropped before it was handled";
    case GYRE_WAS_UNHANDLED:
        return "the kernel ended before it handled the request";
    default:
        return "the handler did not reply";
    }
}

} // namespace detail

/** Requests that are written where they lie in the ring. What was not committed is given back at the end. */
template <class Request> class reservation
{
  public:
    reservation(std::shared_ptr<gyre_queue> shared, std::size_t wanted, wait how_long)
        : queue_(std::move(shared)), first_(nullptr), stride_(0), size_(wanted)
    {
        check(gyre_reserve(queue_.get(), &first_, &stride_, &size_, how_long.deadline_ns()));
    }
    reservation(reservation &&) = default;
    reservation &operator=(reservation &&) = delete;
    ~reservation()
    {
        if (queue_)
            gyre_commit(queue_.get(), 0);
    }
    /** How many requests there is room for, at least one; perhaps fewer than were wanted. */
    std::size_t size() const noexcept
    {
        return size_;
    }
    Request &operator[](std::size_t index) const noexcept
    {
        return *reinterpret_cast<Request *>(static_cast<char *>(first_) + index * stride_);
    }
    /** Publishes the first `count` of them, and ends the reservation. Called by the thread that reserved. */
    void commit(std::size_t count)
    {
        const std::shared_ptr<gyre_queue> ended = std::move(queue_);
        check(gyre_commit(ended.get(), count));
    }

  private:
    std::shared_ptr<gyre_queue> queue_;
    void *first_;
    std::size_t stride_, size_;
};

/** Completions that are read where they lie in the ring. They are given back at the end, all of them. */
template <class Reply> class views
{
  public:
    views(std::shared_ptr<gyre_queue> shared, std::size_t wanted, wait how_long)
        : queue_(std::move(shared)), views_(wanted)
    {
        std::size_t found = 0;
        check(gyre_peek(queue_.get(), views_.data(), wanted, &found, how_long.deadline_ns()));
        views_.resize(found);
    }
    views(views &&) = default;
    views &operator=(views &&) = delete;
    ~views()
    {
        if (queue_)
            gyre_release_views(queue_.get(), views_.size());
    }
    std::size_t size() const noexcept
    {
        return views_.size();
    }
    const gyre_view &operator[](std::size_t index) const noexcept
    {
        return views_[index];
    }
    /** The reply of completion `index`; throws handler_failed when there is none, and error (INVALID) beyond size(). Valid as
     * long as this object. */
    const Reply &reply(std::size_t index) const
    {
        if (index >= views_.size())
            throw error(GYRE_INVALID, "views: expected an index below " + std::to_string(views_.size()) +
                                          ", found " + std::to_string(index));
        const gyre_view &view = views_[index];
        gyre_completion done = {view.index, view.outcome, 0, view.length, ""};
        if (view.outcome == GYRE_REPLIED)
            return *static_cast<const Reply *>(view.reply);
        if (view.outcome == GYRE_HANDLER_FAILED) {
            gyre_failure failure;
            std::memcpy(&failure, view.reply, sizeof failure);
            done.failure_code = failure.code;
            std::memcpy(done.failure_text, failure.text, sizeof done.failure_text);
            done.failure_text[sizeof done.failure_text - 1] = '\0';
        }
        throw handler_failed(done.outcome, done.failure_code, detail::words_of(done));
    }

  private:
    std::shared_ptr<gyre_queue> queue_;
    std::vector<gyre_view> views_;
};

/** One client of a kernel, of a pipeline or of a kernel of another program. Copies are the same queue. */
template <class Request, class Reply> class queue
{
    static_assert(std::is_trivially_copyable<Request>::value && std::is_trivially_copyable<Reply>::value,
                  "messages are structs of C, which GYRE_MESSAGE declares");

  public:
    using request_type = Request;
    using reply_type = Reply;

    explicit queue(std::shared_ptr<gyre_queue> shared) noexcept : queue_(std::move(shared))
    {
    }
    /** The queue for the calls of gyre.h. */
    gyre_queue *get() const noexcept
    {
        return queue_.get();
    }

    /** Request and reply in one. Any number of threads may call at once. */
    Reply call(const Request &request, wait how_long = forever) const
    {
        completion<Reply> done{};
        gyre_completion how;
        check(gyre_call(get(), &request, sizeof request, &done.reply, sizeof done.reply, &how,
                        how_long.deadline_ns()));
        tell(done, how);
        return done.value();
    }
    Reply operator()(const Request &request) const
    {
        return call(request);
    }

    /** Sends one request and returns its number. */
    std::uint64_t send(const Request &request, wait how_long = forever) const
    {
        std::uint64_t index;
        check(gyre_send(get(), &request, sizeof request, &index, how_long.deadline_ns()));
        return index;
    }
    /** Sends as many as there is room for and returns how many; waits only while there is room for none. */
    std::size_t send(span<const Request> requests, wait how_long = forever) const
    {
        std::size_t sent = 0;
        check(gyre_send_batch(get(), requests.data(), sizeof(Request), requests.size(), &sent,
                              how_long.deadline_ns()));
        return sent;
    }
    /** The next completion, in the order of the sends. */
    completion<Reply> receive(wait how_long = forever) const
    {
        completion<Reply> done{};
        gyre_completion how;
        check(gyre_receive(get(), &done.reply, sizeof done.reply, &how, how_long.deadline_ns()));
        tell(done, how);
        return done;
    }

    /**
     * Sends all requests and puts their replies in the same places of `replies`, however few the queue has room for. Throws the
     * first failure once every request that was sent has ended. Nobody else may receive meanwhile.
     */
    void map(span<const Request> requests, span<Reply> replies, wait how_long = forever) const
    {
        if (replies.size() < requests.size())
            throw error(GYRE_INVALID, "map: expected room for " + std::to_string(requests.size()) +
                                          " replies, found " + std::to_string(replies.size()));
        std::vector<gyre_completion> done(requests.size() < batch_max ? requests.size() : batch_max);
        gyre_completion failure{};
        std::size_t sent = 0, received = 0;
        while (received < requests.size()) {
            sent += send_some(requests, sent, received, how_long);
            std::size_t some = 0;
            check(gyre_receive_batch(get(), replies.data() + received, sizeof(Reply),
                                     sent - received < batch_max ? sent - received : batch_max, done.data(),
                                     &some, how_long.deadline_ns()));
            for (std::size_t i = 0; i < some && failure.outcome == 0; i++)
                if (done[i].outcome != GYRE_REPLIED)
                    failure = done[i];
            received += some;
        }
        if (failure.outcome != 0)
            throw handler_failed(failure.outcome, failure.failure_code, detail::words_of(failure));
    }
    std::vector<Reply> map(span<const Request> requests, wait how_long = forever) const
    {
        std::vector<Reply> replies(requests.size());
        map(requests, replies, how_long);
        return replies;
    }

    /** Room for up to `wanted` requests in the ring itself. */
    reservation<Request> reserve(std::size_t wanted, wait how_long = forever) const
    {
        return reservation<Request>(queue_, wanted, how_long);
    }
    /** Up to `wanted` completions in the ring itself. */
    views<Reply> peek(std::size_t wanted, wait how_long = forever) const
    {
        return views<Reply>(queue_, wanted, how_long);
    }
    /** Polls readable while completions wait; for event loops (gyre_queue_descriptor). */
    int descriptor() const
    {
        int descriptor;
        check(gyre_queue_descriptor(get(), &descriptor));
        return descriptor;
    }

  private:
    static constexpr std::size_t batch_max = 1024;

    static void tell(completion<Reply> &done, const gyre_completion &how)
    {
        done.index = how.index;
        done.outcome = how.outcome;
        done.failure_code = how.failure_code;
        if (how.outcome != GYRE_REPLIED) {
            done.failure_text = detail::words_of(how);
            done.reply = Reply{};
        }
    }

    /* Waits for room only while nothing is under way: completions make room otherwise. */
    std::size_t send_some(span<const Request> requests, std::size_t from, std::size_t received,
                          wait how_long) const
    {
        std::size_t some = 0;
        if (from == requests.size())
            return 0;
        const gyre_status status =
            gyre_send_batch(get(), requests.data() + from, sizeof(Request), requests.size() - from, &some,
                            from == received ? how_long.deadline_ns() : GYRE_NO_WAIT);
        if (status != GYRE_AGAIN || from == received)
            check(status);
        return some;
    }

    std::shared_ptr<gyre_queue> queue_;
};

/** A kernel with its own queue. It ends, with all of its queues, when nothing of them is left. */
template <class Request, class Reply> class kernel : public queue<Request, Reply>
{
  public:
    kernel(std::shared_ptr<gyre_kernel> owner, messages<Request, Reply> types)
        : queue<Request, Reply>(std::shared_ptr<gyre_queue>(owner, gyre_kernel_queue(owner.get()))),
          kernel_(std::move(owner)), types_(types)
    {
    }
    gyre_kernel *handle() const noexcept
    {
        return kernel_.get();
    }

    /** One more queue; several senders are quickest with one each. */
    queue<Request, Reply> open_queue(const char *name = nullptr) const
    {
        gyre_queue_desc desc{};
        gyre_queue *opened;
        desc.size = sizeof desc;
        desc.name = name;
        desc.request = types_.request;
        desc.reply = types_.reply;
        check(gyre_queue_open(handle(), &desc, &opened));
        std::shared_ptr<gyre_kernel> owner = kernel_;
        return queue<Request, Reply>(
            std::shared_ptr<gyre_queue>(opened, [owner](gyre_queue *ended) { gyre_queue_close(ended); }));
    }

    /** Handles what is queued until the time is over, and stops. Returns how many requests were left. */
    std::uint64_t terminate(wait drain = no_wait) const
    {
        std::uint64_t unhandled = 0;
        check(gyre_kernel_terminate(handle(), drain.deadline_ns(), &unhandled));
        return unhandled;
    }

  private:
    std::shared_ptr<gyre_kernel> kernel_;
    messages<Request, Reply> types_;
};

/** What a runtime is opened with. */
struct options {
    std::string config;                /* a configuration file; "": as configured */
    std::vector<std::string> settings; /* "section.key=value" */
    std::string backend;               /* "": as configured */
};

/** The configuration, the backends, and everything that is launched. */
class runtime
{
  public:
    runtime() : runtime(options())
    {
    }
    explicit runtime(const options &how)
    {
        std::vector<const char *> settings;
        gyre_open_desc desc{};
        gyre_runtime *opened;
        for (const std::string &setting : how.settings)
            settings.push_back(setting.c_str());
        settings.push_back(nullptr);
        desc.size = sizeof desc;
        desc.config_path = how.config.empty() ? nullptr : how.config.c_str();
        desc.settings = settings.data();
        desc.backend = how.backend.empty() ? nullptr : how.backend.c_str();
        check(gyre_open(&desc, &opened));
        runtime_ = std::shared_ptr<gyre_runtime>(opened, gyre_close);
    }
    gyre_runtime *handle() const noexcept
    {
        return runtime_.get();
    }

    /** "FILE.gyre.c", "FILE.gyre.c:KERNEL", or a compiled file. */
    template <class Request, class Reply>
    gyre::kernel<Request, Reply> launch(const std::string &source, messages<Request, Reply> types) const
    {
        gyre_launch_desc desc{};
        desc.source = source.c_str();
        return launch(desc, types);
    }
    /** As the descriptor says; its size and its types are filled in here. */
    template <class Request, class Reply>
    gyre::kernel<Request, Reply> launch(gyre_launch_desc desc, messages<Request, Reply> types) const
    {
        gyre_kernel *launched;
        desc.size = sizeof desc;
        desc.request = types.request;
        desc.reply = types.reply;
        check(gyre_launch(handle(), &desc, &launched));
        std::shared_ptr<gyre_runtime> owner = runtime_;
        return gyre::kernel<Request, Reply>(
            std::shared_ptr<gyre_kernel>(launched,
                                         [owner](gyre_kernel *ended) { gyre_kernel_release(ended); }),
            types);
    }
    /** [pipeline.NAME] of the configuration, by the queue of its first entry. */
    template <class Request, class Reply>
    queue<Request, Reply> open_pipeline(const char *name, messages<Request, Reply>) const
    {
        gyre_pipeline_desc desc{};
        gyre_pipeline *opened;
        desc.size = sizeof desc;
        desc.name = name;
        check(gyre_pipeline_open(handle(), &desc, &opened));
        std::shared_ptr<gyre_runtime> owner = runtime_;
        std::shared_ptr<gyre_pipeline> pipeline(
            opened, [owner](gyre_pipeline *ended) { gyre_pipeline_close(ended, GYRE_NO_WAIT); });
        return queue<Request, Reply>(std::shared_ptr<gyre_queue>(pipeline, gyre_pipeline_queue(opened)));
    }

  private:
    std::shared_ptr<gyre_runtime> runtime_;
};

/** A queue into a kernel or a pipeline that another program serves (gyre_attach). Needs no runtime. */
template <class Request, class Reply>
queue<Request, Reply> attach(const char *name, messages<Request, Reply> types, const char *socket = nullptr)
{
    gyre_attach_desc desc{};
    gyre_queue *opened;
    desc.size = sizeof desc;
    desc.path = socket;
    desc.request = types.request;
    desc.reply = types.reply;
    check(gyre_attach(name, &desc, &opened));
    return queue<Request, Reply>(std::shared_ptr<gyre_queue>(opened, gyre_queue_close));
}

} // namespace gyre

#endif
