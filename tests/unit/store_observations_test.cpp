#include <gtest/gtest.h>

#include "store/observations.h"
#include "store/summaries.h"
#include "support/engine_fixture.h"

namespace cairn::test {
namespace {

using Lines = std::vector<std::string>;

class ObservationRows : public testing::Test {
 protected:
  ObservationRows() {
    must(m.open());
    memory = begin(chat);
    other_memory = begin(other);
    for (int i = 0; i < 6; ++i) m.tell(chat.ran("echo " + std::to_string(i), "use" + std::to_string(i)));
    events = m.rows("SELECT seq FROM events WHERE name = 'PostToolUse' ORDER BY seq");
  }

  MemoryId begin(Chat& of) {
    of.session = &of == &chat ? "one" : "two";
    m.tell(of.prompt("work"));
    m.tell(of.stop("Talk."));
    return MemoryId{
        m.text("SELECT memory_session_id FROM sdk_sessions WHERE content_session_id = '" + of.session + "'")};
  }

  store::Observation said(std::int64_t position, std::string title, std::vector<int> from) {
    store::Observation o;
    o.project = "proj";
    o.title = std::move(title);
    o.position = position;
    o.created_at = m.clock.now();
    for (const int i : from) o.events.push_back(std::stoll(events[static_cast<std::size_t>(i)]));
    return o;
  }
  void put(const std::string& batch, std::vector<store::Observation> list) {
    must(store::put_observations(m.db(), memory, batch, list));
  }
  Lines all() {
    return m.rows(
        "SELECT o.id, o.title, coalesce(o.batch_id, '-'), (SELECT count(*) FROM observation_evidence e WHERE "
        "e.observation_id = o.id) FROM observations o ORDER BY o.id");
  }

  Machine m;
  Chat chat, other;
  MemoryId memory, other_memory;
  Lines events;
};

TEST_F(ObservationRows, ABatchStoredAgainKeepsTheIdsOfUnchangedRows) {
  put("a", {said(0, "first", {0}), said(1, "second", {1})});
  put("a", {said(0, "other words", {0, 2}), said(2, "second", {1})});
  EXPECT_EQ(all(), (Lines{"1|other words|a|2", "2|second|a|1"}));
  put("a", {said(3, "new", {1})});
  EXPECT_EQ(all(), (Lines{"3|new|a|1"}));
  put("a", {});
  EXPECT_EQ(all(), Lines{});
  EXPECT_EQ(m.number("SELECT count(*) FROM observation_evidence"), 0);
}

TEST_F(ObservationRows, EqualObservationsMayChangePositions) {
  put("a", {said(0, "x", {0}), said(1, "y", {1})});
  put("a", {said(0, "y", {1}), said(1, "x", {0})});
  EXPECT_EQ(all(), (Lines{"1|x|a|1", "2|y|a|1"}));
}

TEST_F(ObservationRows, WhatASessionSaysAgainIsFoldedIntoTheEarlierAndKeepsBothSetsOfEvidence) {
  put("a", {said(0, "The  Tests fail", {0})});
  put("b", {said(0, "the tests FAIL", {1, 2})});
  EXPECT_EQ(all(), (Lines{"1|The  Tests fail|a|3"}));
  put("b", {said(0, "they pass", {3})});
  EXPECT_EQ(all(), (Lines{"1|The  Tests fail|a|1", "2|they pass|b|1"}));
}

TEST_F(ObservationRows, AnObservationRemovedByTheEarlierBatchStaysWithTheLater) {
  put("a", {said(0, "same", {0})});
  put("b", {said(0, "same", {1})});
  put("a", {said(0, "changed", {0})});
  EXPECT_EQ(all(), (Lines{"1|same|b|1", "2|changed|a|1"}));
  put("b", {said(0, "same", {1, 2})});
  EXPECT_EQ(all(), (Lines{"1|same|b|2", "2|changed|a|1"}));
}

TEST_F(ObservationRows, AcrossSessionsBothStayAndAreLinked) {
  put("a", {said(0, "same", {0})});
  must(store::put_observations(m.db(), other_memory, "c", {said(0, "same", {})}));
  EXPECT_EQ(m.rows("SELECT id, coalesce(same_as, '-') FROM observations ORDER BY id"), (Lines{"1|-", "2|1"}));
  EXPECT_EQ(must(store::find_observation(m.db(), 2))->same_as, 1);
  put("a", {});
  EXPECT_EQ(m.rows("SELECT id, coalesce(same_as, '-') FROM observations"), Lines{"2|-"});
}

TEST_F(ObservationRows, FilesAndConceptsFollowTheRow) {
  store::Observation o = said(0, "x", {0, 1});
  o.files_read = {"a"};
  o.files_modified = {"b"};
  o.concepts = {"gotcha"};
  put("a", {o});
  o.files_read = {};
  o.concepts = {"pattern"};
  put("a", {o});
  EXPECT_EQ(m.rows("SELECT path, modified FROM observation_files"), Lines{"b|1"});
  EXPECT_EQ(m.rows("SELECT concept FROM observation_concepts"), Lines{"pattern"});
  EXPECT_EQ(must(store::find_observation(m.db(), 1))->events, o.events);
}

TEST_F(ObservationRows, ATurnIsObservedWhenItEndsAndAgainWhenALateEventComes) {
  Chat next;
  next.session = "three";
  m.tell(next.prompt("fix it"));
  m.tell(next.wrote("a.txt", "w1"));
  EXPECT_EQ(all(), Lines{});
  m.tell(next.stop("Wrote it."));
  EXPECT_EQ(m.rows("SELECT id, title, files_modified FROM observations"),
            Lines{R"(1|Created a.txt|["a.txt"])"});
  m.tell(next.wrote("b.txt", "w2"));
  EXPECT_EQ(m.rows("SELECT id, title FROM observations"), Lines{"1|Created a.txt and b.txt"});
  EXPECT_EQ(m.rows("SELECT e.tool_use_id FROM observation_evidence v JOIN events e ON e.seq = v.event_seq "
                   "ORDER BY e.seq"),
            (Lines{"w1", "-", "w2"}));
}

TEST_F(ObservationRows, TheBuiltInOnesNeverComeBackBesideAModels) {
  Chat next;
  next.session = "three";
  m.tell(next.prompt("fix it"));
  m.tell(next.wrote("a.txt", "w1"));
  m.tell(next.stop("Wrote it."));
  const MemoryId third{
      m.text("SELECT memory_session_id FROM sdk_sessions WHERE content_session_id = 'three'")};
  store::Summary by_model;
  by_model.project = "proj";
  by_model.provider = "claude-cli";
  by_model.prompt_number = 1;
  must(store::put_summary(m.db(), third, by_model, m.clock.now()));
  must(store::put_observations(m.db(), third, "turn-three-1", {said(0, "A model's", {})}));
  m.tell(next.wrote("b.txt", "w2"));
  EXPECT_EQ(m.rows("SELECT title FROM observations"), Lines{"A model's"});
}

}  // namespace
}  // namespace cairn::test
