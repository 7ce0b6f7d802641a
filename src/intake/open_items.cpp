#include "intake/open_items.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "distil/distil.h"
#include "event/origin.h"
#include "store/notes.h"
#include "store/open_items.h"
#include "store/summaries.h"
#include "store/texts.h"

namespace cairn::intake {

namespace {

using distil::TaskChange;
using event::OpenSource;
using event::OpenState;
using store::OpenItem;

constexpr std::string_view kTask = "task:";  // keys of tasks with a number from the host
constexpr std::string_view kTodo = "todo:";  // keys of tasks in a list that the host writes as a whole

// One turn against the items of its project, in run(). First the closings of an earlier run for this turn are
// undone, so that running it again decides anew. Then the turn's tasks and items are matched with rows: an
// equal one of this turn (own_), else one of the project (open_), else a new row. Rows of this turn that it
// mentions no more are deleted. At last, when the turn has ended, items of other turns are closed by what it
// did.
class Keeper {
 public:
  Keeper(store::Db& db, const store::Session& session, const store::Turn& turn, const distil::Turn& facts,
         distil::LeftOpen left)
      : db_(db),
        session_(session),
        turn_{session.id, turn.number},
        at_(turn.ended_at.value_or(turn.last_event_at)),
        prompt_(facts.prompt),
        running_(turn.open()),
        left_(std::move(left)) {}

  Status run() {
    TRY(store::undo_closings(db_, turn_));
    own_ = TRY(store::items_of_turn(db_, turn_));
    open_ = TRY(store::open_items(db_, {.project = session_.project, .all_plans = true}));
    TRY(put_tasks());
    for (const distil::OpenItem& item : left_.items) TRY(put(item));
    for (const OpenItem& item : own_)
      // What a person or a later turn closed stays as it is.
      if (!kept_.contains(item.id) && !item.closed_at) TRY(store::delete_open_item(db_, item.id));
    // What an open turn did so far may not be final: it closes items of other turns only when it has ended.
    if (running_) return {};
    TRY(store::put_edits(db_, turn_,
                         {session_.project,
                          session_.worktree.value_or(""),
                          {done().uncommitted.begin(), done().uncommitted.end()},
                          done().committed,
                          at_}));
    return close_others();
  }

 private:
  const distil::WorkDone& done() const { return left_.done; }
  bool is_ours(const OpenItem& item) const { return item.session == session_.id; }

  Status close(const OpenItem& item, std::string_view by) {
    return store::close_open_item(db_, item.id, by, turn_, at_);
  }

  OpenItem new_item(OpenSource source, const std::string& key, std::string_view text) const {
    OpenItem item;
    item.project = session_.project;
    item.branch = session_.branch;
    item.session = session_.id;
    item.prompt_number = item.seen_prompt = turn_.number;
    item.source = source;
    item.key = key;
    item.text = labelled(text);
    item.opened_at = item.last_seen_at = at_;
    return item;
  }

  Status add(OpenItem item, std::int64_t event) {
    if (event != 0) item.event = event;
    item.id = TRY(store::add_open_item(db_, item));
    kept_.insert(item.id);
    own_.push_back(std::move(item));
    return {};
  }

  // Records that this turn mentioned the item.
  void see(OpenItem& item) const {
    item.last_seen_at = std::max(item.last_seen_at, at_);
    // Numbers of turns can be compared only within a session.
    if (is_ours(item)) item.seen_prompt = std::max(item.seen_prompt, turn_.number);
  }

  Status put_tasks() {
    for (const TaskChange& task : done().tasks) TRY(put_task(task));
    // A host that writes the whole list drops a task by leaving it out.
    if (!done().whole_list) return {};
    for (const OpenItem& item : open_)
      if (is_ours(item) && item.key.starts_with(kTodo) && !kept_.contains(item.id)) {
        kept_.insert(item.id);
        TRY(close(item, "left out of the list"));
      }
    return {};
  }

  static OpenItem* find(std::vector<OpenItem>& items, const auto& is_it) {
    const auto found = std::find_if(items.begin(), items.end(), is_it);
    return found == items.end() ? nullptr : &*found;
  }

  // The item of that task: by its key in this session, else by its text in an earlier session.
  OpenItem* task_row(const TaskChange& task, const std::string& key) {
    const auto by_key = [&](const OpenItem& item) { return is_ours(item) && item.key == key; };
    if (OpenItem* own = find(own_, by_key)) return own;
    if (OpenItem* open = find(open_, by_key)) return open;
    const auto words = distil::key_words(task.subject);
    return find(open_, [&](const OpenItem& item) {
      return item.source == OpenSource::task && !is_ours(item) &&
             distil::alike(words, distil::key_words(item.text));
    });
  }

  Status put_task(const TaskChange& task) {
    using State = host::TaskChange::State;
    const bool ended = task.state == State::completed || task.state == State::deleted;
    const std::string key =
        task.id.empty() ? std::string(kTodo) + distil::item_key(task.subject) : std::string(kTask) + task.id;
    OpenItem* row = task_row(task, key);
    if (!row) {
      if (ended || task.subject.empty()) return {};
      OpenItem item = new_item(OpenSource::task, key, task.subject);
      item.state = task.state == State::in_progress ? OpenState::in_progress : OpenState::pending;
      return add(std::move(item), task.event);
    }
    kept_.insert(row->id);
    // A later turn of the session has said something newer about the task: this one is being distilled again.
    if (row->closed_at || (is_ours(*row) && row->seen_prompt > turn_.number)) return {};
    if (!is_ours(*row)) {  // a task of an earlier session continues in this one
      row->session = session_.id;
      row->prompt_number = turn_.number;
      // The old number is of another session.
      row->seen_prompt = 0;
      row->key = key;
    }
    if (!task.subject.empty()) row->text = labelled(task.subject);
    if (task.state == State::pending) row->state = OpenState::pending;
    if (task.state == State::in_progress) row->state = OpenState::in_progress;
    see(*row);
    TRY(store::update_open_item(db_, *row));
    return ended ? close(*row, task.state == State::completed ? "task completed" : "task deleted") : Status();
  }

  Status put(const distil::OpenItem& found) {
    const auto same = [&](const OpenItem& item) {
      return item.source == found.source && item.key == found.key;
    };
    OpenItem* row = find(own_, same);
    if (!row)
      row =
          find(open_, [&](const OpenItem& item) { return !kept_.contains(item.id) && is_same(item, found); });
    if (!row) {
      if (TRY(store::closed_by_person(db_, session_.project, found.key))) return {};
      OpenItem item = new_item(found.source, found.key, found.text);
      item.state = found.state;
      item.detail = labelled(found.detail);
      return add(std::move(item), found.event);
    }
    kept_.insert(row->id);
    if (row->closed_at) return {};
    see(*row);
    // The text stays that of the turn that mentioned it first: its event is the item's evidence. A plan's
    // detail and state are those of the newest turn.
    if (row->source == OpenSource::plan && row->last_seen_at == at_) {
      row->detail = labelled(found.detail);
      row->state = found.state;
    }
    return store::update_open_item(db_, *row);
  }

  // Whether an item of another turn and `found` are the same thing.
  static bool is_same(const OpenItem& item, const distil::OpenItem& found) {
    // Two interruptions are never the same, even with the same words. Plans are compared by their headings
    // (the key) only.
    if (item.source == OpenSource::interruption || found.source == OpenSource::interruption) return false;
    if (item.source == found.source && item.key == found.key) return true;
    if (item.source == OpenSource::plan || found.source == OpenSource::plan) return false;
    return distil::alike(distil::key_words(item.text), distil::key_words(found.text));
  }

  Status close_others() {
    open_ = TRY(store::open_items(db_, {.project = session_.project, .all_plans = true}));
    for (OpenItem& item : open_) {
      const bool own = is_ours(item) && item.prompt_number == turn_.number;
      // An item that was opened later cannot be done by this turn, which is being distilled again. A plan can
      // be accepted and implemented in its own turn.
      if (item.opened_at > at_ || (own && item.source != OpenSource::plan)) continue;
      if (item.source == OpenSource::plan) {
        TRY(follow_plan(item, own));
        continue;
      }
      if (kept_.contains(item.id)) continue;
      if (const std::string_view by = closed_by(item); !by.empty()) TRY(close(item, by));
    }
    return {};
  }

  // The reason why this turn closes the item; empty when it stays open.
  std::string_view closed_by(const OpenItem& item) const {
    const bool before = is_ours(item) && item.prompt_number < turn_.number;
    if (before && (item.source == OpenSource::question || item.state == OpenState::offered))
      return "answered";
    // Questions and offers of an earlier turn end with any later prompt; all else only with a finished turn.
    if (!done().finished) return {};
    // An interruption at a plan ends with the next finished turn on any branch, others only on their own
    // branch.
    if (item.source == OpenSource::interruption)
      return item.branch == session_.branch || item.state == OpenState::at_plan ? "the work went on" : "";
    // An offer is accepted only by the very next prompt: "yes" says nothing about older ones.
    const bool offered =
        before && item.source == OpenSource::next_step && item.prompt_number == turn_.number - 1;
    if (offered && done().agrees && done().work) return "you agreed, and it was done";
    return distil::did(done(), item.text) ? "done" : "";
  }

  // A plan is accepted in its own turn or by a prompt that contains its text. It is implemented when the turn
  // ends with all steps done.
  Status follow_plan(OpenItem& plan, bool own) {
    const bool brought = !own && distil::brings_plan(prompt_, plan.detail);
    if (brought) {
      plan.state = OpenState::accepted;
      see(plan);
      TRY(store::update_open_item(db_, plan));
    }
    const bool other_plan = std::any_of(left_.items.begin(), left_.items.end(), [&](const auto& item) {
      return item.source == OpenSource::plan && item.key != plan.key;
    });
    if (!own && is_ours(plan) && other_plan) return close(plan, "replaced by another plan");
    if (!done().finished || !done().work) return {};
    const bool at_work = brought || (plan.state == OpenState::accepted && is_ours(plan));
    // For a plan that this turn works on, its steps decide; for any other one, the words of the answer.
    if (at_work && distil::steps_left(plan.detail, TRY(edited_for(plan))).empty())
      return close(plan, "implemented");
    return !at_work && distil::did(done(), plan.text) ? close(plan, "done") : Status();
  }

  // The names of the files that this session edited since the plan was there.
  Result<std::set<std::string>> edited_for(const OpenItem& plan) {
    constexpr std::size_t kTurns = 60;
    std::set<std::string> names = done().files;
    const std::int64_t first = is_ours(plan) ? plan.prompt_number.value_or(0) : 0;
    for (const store::Summary& turn : TRY(store::last_summaries(db_, session_.id, kTurns)))
      if (turn.prompt_number >= first && turn.prompt_number < turn_.number)
        for (const std::string& file : turn.files_edited) names.insert(file.substr(file.rfind('/') + 1));
    return names;
  }

  store::Db& db_;
  const store::Session& session_;
  const store::OpenTurn turn_;
  const WallTime at_;
  const std::string& prompt_;
  const bool running_;
  distil::LeftOpen left_;
  std::vector<OpenItem> own_;    // of this turn, closed ones too
  std::vector<OpenItem> open_;   // of the project
  std::set<std::int64_t> kept_;  // items that this turn mentions
};

}  // namespace

Status keep_open_items(store::Db& db, const store::Session& session, const store::Turn& turn,
                       const distil::Turn& facts, distil::LeftOpen left, const distil::Mode& mode,
                       const std::vector<std::string>& rules) {
  // A rule of the model that repeats one from the prompt in other words is not added twice.
  std::vector<std::string> orders;
  const auto add = [&](const std::string& rule) {
    const distil::Words words = distil::key_words(rule);
    const bool known = std::any_of(orders.begin(), orders.end(), [&](const std::string& order) {
      return distil::mostly_in(words, distil::key_words(order));
    });
    if (!known) orders.push_back(rule);
  };
  for (const std::string& words : TRY(store::words_of_person(db, session.id, turn.number)))
    for (const std::string& order : distil::standing_orders(words, mode)) add(order);
  for (const std::string& rule : rules) add(rule);
  TRY(store::put_standing_orders(db, session.id, turn.number, orders, turn.started_at));
  return Keeper(db, session, turn, facts, std::move(left)).run();
}

}  // namespace cairn::intake
