// Conversations that end between two batches, and providers that are replaced while they work.
#include <gtest/gtest.h>

#include "agent/worker.h"
#include "support/engine_fixture.h"
#include "support/scripted_provider.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;
using agent::ProviderMessage;
using agent::Trouble;

// Passes everything on to a scripted provider; `ends` makes each of its conversations say that it is over.
class EndingProvider final : public agent::Provider {
 public:
  explicit EndingProvider(os::Clock& clock) : scripted(clock) {}
  ScriptedProvider scripted;
  bool ends = false;

  std::string_view name() const override { return scripted.name(); }
  std::string_view model() const override { return scripted.model(); }
  bool has_ids() const override { return true; }
  std::unique_ptr<agent::Conversation> start(const agent::Start& start) override {
    return std::make_unique<Talk>(*this, scripted.start(start));
  }

 private:
  class Talk final : public agent::Conversation {
   public:
    Talk(EndingProvider& owner, std::unique_ptr<agent::Conversation> inner)
        : owner_(owner), inner_(std::move(inner)) {}
    void send(const agent::Request& request) override { inner_->send(request); }
    std::optional<ProviderMessage> receive() override {
      if (auto message = inner_->receive()) return message;
      if (!std::exchange(owner_.ends, false)) return std::nullopt;
      return ProviderMessage{{}, Trouble{Trouble::Kind::canceled, "the child ended", {}, {}}};
    }

   private:
    EndingProvider& owner_;
    std::unique_ptr<agent::Conversation> inner_;
  };
};

class ResumeTest : public testing::Test {
 protected:
  ResumeTest() {
    m.provider = &provider;
    must(m.open());
  }
  ~ResumeTest() override { m.close(); }

  void turn() {
    const std::string number = std::to_string(++uses_);
    m.deliver(chat.prompt("work " + number));
    m.deliver(chat.ran("make", "use-" + number));
    m.deliver(chat.stop());
    must(m.drain());
  }

  Machine m;
  EndingProvider provider{m.clock};
  Chat chat;

 private:
  int uses_ = 0;
};

TEST_F(ResumeTest, AConversationThatEndsBetweenTwoBatchesIsResumed) {
  turn();
  ASSERT_EQ(provider.scripted.starts.size(), 1u);
  EXPECT_FALSE(provider.scripted.starts[0].resume);
  provider.ends = true;
  must(m.drain());
  EXPECT_EQ(provider.scripted.open, 0);
  turn();
  ASSERT_EQ(provider.scripted.starts.size(), 2u);
  ASSERT_TRUE(provider.scripted.starts[1].resume);
  EXPECT_EQ(provider.scripted.starts[1].resume->value, "memory-1");
  EXPECT_EQ(m.number("SELECT count(*) FROM pending_messages WHERE status <> 'processed'"), 0)
      << "nothing failed, so nothing waits";
}

}  // namespace
}  // namespace cairn::test
