# Static archives where the distribution has them, so that a command does not pay for the loader.
find_package(Threads REQUIRED)

function(cairn_archive target archive header)
  find_library(${target}_lib NAMES ${archive} REQUIRED)
  find_path(${target}_inc NAMES ${header} REQUIRED)
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${${target}_inc})
  target_link_libraries(${target} INTERFACE ${${target}_lib})
endfunction()

cairn_archive(dep_event libevent_core.a event2/event.h)
cairn_archive(dep_zstd libzstd.a zstd.h)
cairn_archive(dep_zlib libz.a zlib.h)  # git's objects are deflated
cairn_archive(dep_sodium libsodium.a sodium.h)
cairn_archive(dep_utf8proc libutf8proc.a utf8proc.h)
cairn_archive(dep_re2 libre2.a re2/re2.h)

# libcurl is loaded when a provider first needs it (daemon/curl.h): linking it would cost every command 10 ms. Only its
# headers are needed here.
find_path(dep_curl_inc NAMES curl/curl.h REQUIRED)
add_library(dep_curl INTERFACE)
target_include_directories(dep_curl SYSTEM INTERFACE ${dep_curl_inc})
target_link_libraries(dep_curl INTERFACE ${CMAKE_DL_LIBS})
