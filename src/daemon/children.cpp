#include "daemon/children.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>

#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>

// Two threads share a child. The writer has its Handle: what it does is posted to the loop with the child's
// id, never with a pointer, because the child may be gone by then. The loop has its Process: it reads lines
// into the Mailbox and calls on_news_, which wakes the writer to fetch them.

namespace cairn::daemon {

static constexpr std::size_t kMaxReply = 16u << 20;        // of a line: no reply is larger
static constexpr std::size_t kMaxUnread = 2 * kMaxReply;   // lines that the writer has not fetched yet
static constexpr std::chrono::milliseconds kGrace(1'000);  // after its stdin was closed; then it is killed

// The part of a child that both threads use.
struct LoopChildren::Mailbox {
  std::mutex mutex;
  std::deque<std::string> lines;
  std::size_t bytes = 0;             // of those lines
  std::optional<std::string> ended;  // why the child ended
};

struct LoopChildren::Process {
  LoopChildren* owner = nullptr;
  std::int64_t pid = 0;
  bufferevent* buffer = nullptr;  // null: its socket is closed
  std::shared_ptr<Mailbox> mailbox;

  ~Process() {
    if (buffer) bufferevent_free(buffer);
  }
};

class LoopChildren::Handle final : public agent::Child {
 public:
  Handle(LoopChildren& owner, int id, std::shared_ptr<Mailbox> mailbox)
      : owner_(owner), id_(id), mailbox_(std::move(mailbox)) {}
  ~Handle() override {
    owner_.loop_.post([&owner = owner_, id = id_] { owner.end(id); });
  }
  void send(std::string_view line) override {
    owner_.loop_.post(
        [&owner = owner_, id = id_, text = std::string(line) + "\n"] { owner.write(id, text); });
  }
  std::optional<std::string> receive() override {
    const std::lock_guard lock(mailbox_->mutex);
    if (mailbox_->lines.empty()) return std::nullopt;
    std::string line = std::move(mailbox_->lines.front());
    mailbox_->lines.pop_front();
    mailbox_->bytes -= line.size();
    return line;
  }
  std::optional<std::string> ended() override {
    const std::lock_guard lock(mailbox_->mutex);
    return mailbox_->lines.empty() ? mailbox_->ended : std::nullopt;
  }

 private:
  LoopChildren& owner_;
  int id_;
  std::shared_ptr<Mailbox> mailbox_;
};

LoopChildren::LoopChildren(Loop& loop, Log& log, std::function<void()> on_news)
    : loop_(loop), log_(log), on_news_(std::move(on_news)) {
  loop_.on_signal(SIGCHLD, [this] { collect(); });
}

// All are killed before the first wait, so that they die at the same time.
LoopChildren::~LoopChildren() {
  for (const auto& [id, process] : processes_) os::kill_group(process->pid);
  for (const auto& [id, process] : processes_) os::reap(process->pid, true);
}

std::unique_ptr<agent::Child> LoopChildren::start(const os::Command& command) {
  auto mailbox = std::make_shared<Mailbox>();
  const int id = ++next_;
  loop_.post([this, id, command, mailbox] { spawn(id, command, mailbox); });
  return std::make_unique<Handle>(*this, id, std::move(mailbox));
}

void LoopChildren::spawn(int id, const os::Command& command, const std::shared_ptr<Mailbox>& mailbox) {
  auto child = os::spawn_child(command);
  if (!child) {
    const std::lock_guard lock(mailbox->mutex);
    mailbox->ended = child.error().message;
    return on_news_();
  }
  auto process = std::make_unique<Process>();
  process->owner = this;
  process->pid = child->pid;
  process->mailbox = mailbox;
  process->buffer = bufferevent_socket_new(loop_.base(), child->socket.release(), BEV_OPT_CLOSE_ON_FREE);
  CAIRN_ASSERT(process->buffer);
  bufferevent_setcb(
      process->buffer,
      [](bufferevent*, void* self) {
        auto* p = static_cast<Process*>(self);
        p->owner->read(*p);
      },
      nullptr,
      [](bufferevent*, short, void* self) {
        auto* p = static_cast<Process*>(self);
        p->owner->hung_up(*p);
      },
      process.get());
  bufferevent_enable(process->buffer, EV_READ | EV_WRITE);
  log_.info(fmt::format("child starts pid={} {}", process->pid, command.executable));
  processes_.emplace(id, std::move(process));
}

void LoopChildren::write(int id, const std::string& line) {
  const auto found = processes_.find(id);
  if (found != processes_.end() && found->second->buffer)
    bufferevent_write(found->second->buffer, line.data(), line.size());
}

// The writer destroyed its handle: close the child's stdin, and kill it if it does not end.
void LoopChildren::end(int id) {
  const auto found = processes_.find(id);
  if (found == processes_.end() || !found->second->buffer) return;
  shutdown(bufferevent_getfd(found->second->buffer), SHUT_WR);
  loop_.after(kGrace, [this, id] {
    if (const auto late = processes_.find(id); late != processes_.end()) os::kill_group(late->second->pid);
  });
}

void LoopChildren::read(Process& process) {
  evbuffer* input = bufferevent_get_input(process.buffer);
  std::size_t unread = 0;
  {
    const std::lock_guard lock(process.mailbox->mutex);
    std::size_t size = 0;
    while (char* line = evbuffer_readln(input, &size, EVBUFFER_EOL_LF)) {
      process.mailbox->lines.emplace_back(line, size);
      process.mailbox->bytes += size;
      std::free(line);
    }
    unread = process.mailbox->bytes;
  }
  if (evbuffer_get_length(input) > kMaxReply)
    return hung_up(process, "the child wrote a line that is too long");
  if (unread > kMaxUnread) return hung_up(process, "the child wrote more than can be buffered");
  on_news_();
}

// The child closed its socket or wrote too much: kill its process group, which may hold children of its own.
// May destroy `process`.
void LoopChildren::hung_up(Process& process, const char* why) {
  {
    const std::lock_guard lock(process.mailbox->mutex);
    process.mailbox->ended = why;
  }
  bufferevent_free(process.buffer);
  process.buffer = nullptr;
  os::kill_group(process.pid);
  on_news_();
  collect();
}

// Reaps the children that ended. Several of them may have caused only one signal, so all are tried.
void LoopChildren::collect() {
  for (auto it = processes_.begin(); it != processes_.end();) {
    Process& process = *it->second;
    const bool gone = process.pid == 0 || !os::reap(process.pid);
    if (gone && process.pid != 0) {
      log_.info(fmt::format("child ended pid={}", process.pid));
      process.pid = 0;
    }
    // Keep a dead child until its socket is closed: its last lines may still be unread.
    it = gone && !process.buffer ? processes_.erase(it) : std::next(it);
  }
}

}  // namespace cairn::daemon
